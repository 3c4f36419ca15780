from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from syntagma.cli import main
from syntagma.cli.reference import find_section, read_section, settings_page
from syntagma.errors import InputError
from tests.messages import naming


@dataclass(frozen=True)
class Above:
    """What both have.

    Args:
        length: of a row, or ``None``.
    """

    length: int | None = None


@dataclass(frozen=True)
class Below(Above):
    """More.

    Args:
        kind: ``a|b`` or
            ``c`` (:mod:`syntagma.errors`).
        shares: of each; any number.
    """

    kind: Literal["a|b", "c"] = "c"
    shares: tuple[float, ...] = (0.5, 1.0)


def test_a_section_is_built_from_its_dataclass():
    section = read_section("below", "head:", Below)
    assert list(section.lines()) == [
        "below, under `head:`",
        "  length: null  (whole number or null)",
        "      of a row, or `None`",
        "  kind: c  (a|b, c)",
        "      `a|b` or `c` (`syntagma.errors`)",
        "  shares: [0.5, 1.0]  (list of number)",
        "      of each; any number",
    ]
    rows = section.markdown().splitlines()
    assert rows[5] == "| `kind` | `a\\|b, c` | `c` | `a\\|b` or `c` (`syntagma.errors`) |"


def test_sections_contain_inherited_settings():
    names = [key.name for key in find_section("open_qa").keys]
    assert names[0] == "max_length"
    assert "train_negatives" in names
    required = {key.name for key in find_section("experiment").keys if not key.default}
    assert required == {"task", "data"}


def test_an_unknown_section_is_reported_with_the_closest_name():
    with pytest.raises(InputError, match=naming("section spams spans")):
        find_section("spams")


def test_the_settings_page_is_up_to_date():
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    remedy = "run `syntagma settings > docs/settings.md`"
    assert page.read_text(encoding="utf-8") == settings_page(), remedy


def test_the_command_prints_a_section(capsys):
    with pytest.raises(SystemExit):
        main(["settings", "coattention"])
    shown = capsys.readouterr().out
    assert shown.startswith("coattention, under `guides: coattention:`\n  kind: iterative")
