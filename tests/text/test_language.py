"""Which language a text is in."""

from __future__ import annotations

import subprocess
import sys

import pytest

from syntagma.text.language import language_of
from tests.languages import TEXTS


@pytest.mark.parametrize("code", TEXTS)
def test_the_language_of_a_sentence(code):
    found = language_of(TEXTS[code])
    assert found.code == code
    assert found.probability > 0.5


@pytest.mark.parametrize("text", ["", "Oui.", "1 2 3 4 5 6 7 8 9 10 11 12 13 14", "🙂" * 40])
def test_too_few_letters_say_nothing(text):
    assert language_of(text) is None


def test_among_some_languages_one_of_them_is_found():
    assert language_of(TEXTS["en"], ("de", "fr")).code in ("de", "fr")
    assert language_of(TEXTS["fr"], ("de", "fr")).code == "fr"


def test_languages_that_nobody_can_detect_are_not_found():
    assert language_of(TEXTS["fr"], ("xx",)) is None


def test_names_and_titles_in_english_are_no_other_language():
    text = "Annual General Meeting, Harbour Office, 12 March: agenda and minutes of the meeting"
    found = language_of(text)
    assert found is None or found.code == "en" or found.probability < 0.6


def test_plain_english_does_not_load_the_model():
    code = (
        "import sys; from syntagma.text.language import language_of; "
        f"assert language_of({TEXTS['en']!r}).code == 'en'; assert 'py3langid' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
