"""Parallel text, trained vocabularies, and scores of translations."""

from __future__ import annotations

import logging

import pytest

pytest.importorskip("sacrebleu")

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from syntagma.errors import InputError
from syntagma.tasks.translation.parallel_text import ParallelExample, read_parallel
from syntagma.tasks.translation.sample import upper
from syntagma.tasks.translation.scores import bleu, sentence_bleu, signature
from syntagma.tasks.translation.vocabulary import learn_vocabulary
from tests.builders import parallel
from tests.conftest import SENTENCES
from tests.messages import naming, says

MARKED = (
    'It cost $1,234.50 (or 30% more), he said: "no" - then left...',
    "A well-known 3-4 draw at 5 p.m., e.g. on 12.11.2019; isn't it?",
    "x<y & y>z / [a] {b} `c` ~d^e_f\\g |h| a.b,c .5 6. ,7 8,",
    "Über 3.000 Bücher, „alle“ 2-mal gelesen!?",
)
"""Made-up sentences with marks in all kinds of places."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return parallel(tmp_path_factory.mktemp("parallel"))


class TestFiles:
    def test_lines_correspond(self, data):
        examples = read_parallel(data)
        assert len(examples) == 2 * len(SENTENCES)
        assert examples[0] == ParallelExample("1", SENTENCES[0], upper(SENTENCES[0]))

    def test_file_names_may_contain_a_plus(self, tmp_path):
        one, other = tmp_path / "c++.en", tmp_path / "c++.de"
        one.write_text("a\n")
        other.write_text("b\n")
        assert read_parallel(f"{one}+{other}") == [ParallelExample("1", "a", "b")]
        assert read_parallel(one) == [ParallelExample("1", "a", "")]

    def test_sources_without_references(self, data):
        assert read_parallel(data.split("+")[0])[0].target == ""

    @pytest.mark.parametrize(
        ("one", "other", "message"),
        [
            ("a\nb\n", "c\n", "one 2 lines other 1"),
            ("a\n\nb\n", "c\nd\ne\n", "one line 2 empty"),
            ("a\nb\n", "c\n  \n", "other line 2 empty"),
            ("", "", "other sentence"),
            ("a\n", "c\0\n", "other NUL line 1 iconv"),
        ],
    )
    def test_invalid_files_are_named(self, tmp_path, one, other, message):
        for name, text in (("one", one), ("other", other)):
            (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=naming(message)):
            read_parallel(f"{tmp_path / 'one'}+{tmp_path / 'other'}")

    def test_empty_lines_are_skipped_and_counted(self, tmp_path, caplog):
        (tmp_path / "one").write_text("a\n\nb\n")
        (tmp_path / "other").write_text("c\nd\ne\n")
        with caplog.at_level(logging.WARNING):
            found = read_parallel(f"{tmp_path / 'one'}+{tmp_path / 'other'}", skip_bad=True)
        assert [(example.id, example.source) for example in found] == [("1", "a"), ("3", "b")]
        assert says(caplog.text, "1 pairs")


class TestVocabulary:
    @pytest.mark.parametrize("text", ["Zürich, 東京!", "a  b", "don't — ﬁ"])
    def test_byte_pairs_round_trip_any_text(self, text):
        tokenizer = learn_vocabulary(SENTENCES, kind="bpe", size=300)
        ids = tokenizer(text)["input_ids"]
        assert ids[-1] == tokenizer.eos_token_id
        assert tokenizer.unk_token_id not in ids
        decoded = tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        assert decoded.strip() == text

    def test_words_of_running_text_are_those_of_bleu(self):
        tokenizer = learn_vocabulary(SENTENCES, kind="words", size=600)
        words_of = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str
        for text in (*SENTENCES, *MARKED):
            assert [word for word, _ in words_of(text)] == Tokenizer13a()(text).split()

    def test_a_word_before_a_full_stop_is_not_another_word(self):
        texts = ["a gull cried.", "he cried (twice)", "cried, and twice."]
        tokenizer = learn_vocabulary(texts, kind="words", size=30)
        assert tokenizer.tokenize("he cried.") == ["he", "cried", "."]
        assert "cried." not in tokenizer.get_vocab()
        # In tokenised text, only spaces separate words.
        given = learn_vocabulary(texts, kind="words", size=30, tokenized=True)
        assert given.tokenize("he cried.") == ["he", "cried."]

    def test_words_are_split_at_spaces(self):
        tokenizer = learn_vocabulary(["the cat . the dog"], kind="words", size=6)
        assert len(tokenizer) == 6
        ids = tokenizer("the dog sat .")["input_ids"]
        assert tokenizer.decode(ids, clean_up_tokenization_spaces=False).count("⁇") >= 1
        kept = tokenizer("the the")["input_ids"]
        assert tokenizer.decode(kept, skip_special_tokens=True) == "the the"

    @pytest.mark.parametrize(("kind", "least"), [("bpe", 259), ("words", 4)])
    def test_a_vocabulary_that_is_too_small_is_rejected(self, kind, least):
        assert len(learn_vocabulary(SENTENCES, kind=kind, size=least)) == least
        with pytest.raises(InputError, match=naming(f"head.vocab_size {least}")):
            learn_vocabulary(SENTENCES, kind=kind, size=least - 1)


class TestScores:
    def test_bleu_by_hand(self):
        # 5 of 6 words, 3 of 5 bigrams, 2 of 4 trigrams, 1 of 3 four-grams; no brevity penalty.
        found = bleu(["the cat sat on a mat"], ["the cat sat on the mat"], tokenized=True)
        assert found == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)

    def test_bleu_depends_on_case_and_tokenisation(self):
        assert bleu(["The end of it all."], ["The end of it all."]) == pytest.approx(100)
        assert bleu(["the end of it all."], ["The end of it all."]) < 100
        raw, reference = ["so it is the end."], ["so it is the end ."]
        assert bleu(raw, reference) == pytest.approx(100)
        assert bleu(raw, reference, tokenized=True) < 100

    def test_sentences_shorter_than_four_words_have_a_score(self):
        rows = sentence_bleu(["yes", "no"], ["yes", "maybe"], tokenized=True)
        assert [row["bleu"] for row in rows] == pytest.approx([100, 0])
        assert [row["matches_1"] for row in rows] == [1, 0]
        assert rows[0]["totals_2"] == 0

    def test_the_signature_records_the_settings(self):
        assert "tok:13a" in signature()
        assert "tok:none" in signature(tokenized=True)
