"""Annotated corpora: no record is lost, and the same input always results in the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from syntagma.cli.annotation import check_corpora
from syntagma.errors import DamagedFileError, InputError
from syntagma.parse.corpora import shards as shards_module
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.corpora.shards import Shard, ShardWriter
from syntagma.parse.sources.load import load_source
from syntagma.text.sentence import Parse, Sentence
from tests.corpora import annotate, contents, settings, text_file
from tests.messages import naming


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    source = text_file(folder / "harbour.txt")
    manifest = annotate([source], folder / "out", settings())
    return source, folder / "out", manifest


class TestShards:
    def test_parses_are_read_back_unchanged(self, corpus):
        source, folder, manifest = corpus
        lines = Path(source).read_text().splitlines()
        texts = [line for line in lines if line.strip()]
        expected = [p for parses in load_source("random:3").parse_texts(texts) for p in parses]
        found = list(AnnotatedCorpus(folder).sentences())
        assert len(found) == len(expected) == manifest.counts.sentences == len(
            AnnotatedCorpus(folder)
        )  # fmt: skip
        for have, want in zip(found, expected, strict=True):
            assert have.parse.sentence == want.sentence
            assert have.parse.heads == want.heads
            assert have.parse.relations == want.relations
            assert have.parse.upos == want.upos
            text = lines[have.document - 1]
            assert have.text == text[want.sentence.start : want.sentence.end]

    def test_counts_cover_every_record(self, corpus):
        _, folder, manifest = corpus
        written = json.loads((folder / "manifest.json").read_text())
        assert written["counts"] == {
            "records": 15, "documents": 12, "blank": 3, "skipped": 0,
            "sentences": manifest.counts.sentences, "words": manifest.counts.words,
        }  # fmt: skip
        for key, total in written["counts"].items():
            assert sum(shard["counts"][key] for shard in written["shards"]) == total
        assert len(written["shards"]) > 3
        assert not list(folder.glob(".*"))
        assert not (folder / "shards.jsonl").exists()

    def test_columns_are_small_integers_with_labels(self, corpus):
        _, folder, _ = corpus
        shard = next(AnnotatedCorpus(folder).shards())
        assert shard.labels["relations"] == ["dep", "root"]
        assert shard.metadata["fingerprint"] == "random2:3"
        assert shard.metadata["schema"] == 2
        assert shard.upos.dtype == np.uint8
        assert shard.confidence is None
        assert shard.forms is None
        assert shard.bounds[-1] == len(shard.heads)

    @pytest.mark.parametrize(
        ("n_words", "length", "types"),
        [
            (3, 4, ("|i1", "|u1")),
            (130, 256, ("<i2", "<u2")),
            (40_000, 1, ("<i4", "|u1")),
            (2, 70_000, ("|i1", "<i4")),
        ],
    )
    def test_integer_types_are_as_narrow_as_possible(self, tmp_path, n_words, length, types):
        forms = ["x" * length] * n_words
        text = " ".join(forms)
        # Every word depends on the last one; the second sentence is short.
        far = Parse(Sentence.from_words(forms), (n_words,) * (n_words - 1) + (0,))
        near = Parse(Sentence.from_words(forms[:2]), (0, 1))
        writer = ShardWriter({})
        writer.add(0, 1, text, [far, near])
        writer.write(tmp_path / "a.parquet", {})
        shard = Shard(tmp_path / "a.parquet")
        assert tuple(shard.metadata["types"][name] for name in ("heads", "lengths")) == types
        assert shard.heads.tolist() == [*far.heads, 0, 1]
        assert shard.ends.tolist() == [*far.sentence.ends, *near.sentence.ends]
        assert shard.starts.tolist() == [*far.sentence.starts, *near.sentence.starts]

    def test_a_corpus_without_text(self, corpus, tmp_path):
        source, _, _ = corpus
        annotate([source], tmp_path / "out", settings(text=False))
        corpus_without = AnnotatedCorpus(tmp_path / "out")
        assert next(corpus_without.shards()).texts is None
        with pytest.raises(
            InputError, match=naming(f"{tmp_path / 'out'} --no-text AnnotatedCorpus.shards()")
        ):
            next(corpus_without.sentences())
        assert corpus_without.check() == []

    def test_a_corpus_without_sentences(self, tmp_path):
        path = tmp_path / "blank.txt"
        path.write_text("\n \n")
        manifest = annotate([str(path)], tmp_path / "out", settings())
        assert manifest.counts.records == manifest.counts.blank == 2
        assert list(AnnotatedCorpus(tmp_path / "out").sentences()) == []
        assert check_corpora([tmp_path / "out"]) == 0

    def test_the_dataset_has_the_same_sentences(self, corpus, tmp_path):
        pytest.importorskip("datasets")
        _, folder, _ = corpus
        whole = AnnotatedCorpus(folder)
        rows = list(whole.dataset())
        parses = list(whole.sentences())
        names = whole.labels()
        assert len(rows) == len(parses)
        for row, found in zip(rows, parses, strict=True):
            assert row["heads"] == list(found.parse.heads)
            assert row["text"][row["starts"][0] : row["ends"][0]] == found.parse.sentence.forms[0]
            assert [names["relations"][code] for code in row["relations"]] == list(
                found.parse.relations
            )

    def test_other_schema_versions_and_damaged_files_are_rejected(
        self, corpus, tmp_path, monkeypatch
    ):
        _, folder, _ = corpus
        path = next(folder.glob("*.parquet"))
        monkeypatch.setattr(shards_module, "SCHEMA_VERSION", 3)
        with pytest.raises(DamagedFileError, match=naming("00000-000004.parquet schema 2 3")):
            Shard(path)
        other = tmp_path / "x.parquet"
        other.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(DamagedFileError, match=naming("x.parquet damaged")):
            Shard(other)


class TestCheck:
    @pytest.fixture
    def copy(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        annotate([path], tmp_path / "out", settings())
        return path, tmp_path / "out"

    def test_an_intact_corpus_passes(self, copy):
        assert check_corpora([copy[1]]) == len(AnnotatedCorpus(copy[1]))

    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            (
                lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
                "00000-000001.parquet damaged --resume",
            ),
            (lambda path: path.unlink(), "00000-000001.parquet missing --resume"),
            (
                lambda path: path.with_name("x.parquet").write_bytes(b""),
                "x.parquet manifest.json --resume",
            ),
        ],
    )
    def test_damage_is_detected_and_repaired_by_resume(self, copy, damage, message):
        path, folder = copy
        before = contents(folder)
        damage(sorted(folder.glob("*.parquet"))[1])
        with pytest.raises(InputError, match=naming(message)):
            check_corpora([folder])
        annotate([path], folder, settings(), resume=True)
        assert contents(folder) == before

    def test_trees_are_checked(self, copy, monkeypatch):
        monkeypatch.setattr("syntagma.parse.corpora.corpus.Shard", lambda path: broken)
        for change in (lambda h: h * 0, lambda h: np.where(h == 0, 1, h), lambda h: h + 99):
            broken = Shard(sorted(copy[1].glob("*.parquet"))[0])
            broken.heads = change(broken.heads)
            assert any("are not trees" in line for line in AnnotatedCorpus(copy[1]).check())
