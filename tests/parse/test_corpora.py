"""Annotated corpora: no record is lost, and the same input always results in the same bytes."""

from __future__ import annotations

import gzip
import io
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from glob import glob
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from syntagma.cli.annotation import check_corpora, write_corpora
from syntagma.errors import BusyError, DamagedFileError, InputError
from syntagma.outputs import hold_folder
from syntagma.parse.corpora import records as records_module
from syntagma.parse.corpora import runner
from syntagma.parse.corpora import shards as shards_module
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.chunks import group_files, split_into_chunks
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.corpora.records import expand_paths, kind_of, reader_of
from syntagma.parse.corpora.shards import Shard, ShardWriter
from syntagma.parse.scorer import ParserModel
from syntagma.parse.sources.load import load_parser, load_source
from syntagma.tasks.annotation import annotate_files
from syntagma.text.conllu import parse_conllu
from syntagma.text.sentence import Parse, Sentence
from tests.builders import squad, treebank
from tests.conftest import SENTENCES

RANDOM = {"parser": "random:3", "shard_characters": 200}


def annotate(inputs, out, chosen, **options):
    """Annotate in this process, which is faster than starting workers."""
    return runner.annotate(inputs, out, chosen, **({"workers": 1} | options))


def annotate_files_here(inputs, out, chosen):
    return annotate_files(inputs, out, chosen, workers=1)


def settings(**changes):
    return AnnotationSettings(**(RANDOM | changes))


def text_file(path: Path, copies: int = 3) -> str:
    lines = []
    for copy in range(copies):
        for number in range(0, len(SENTENCES), 2):
            lines.append(f"{copy}: {SENTENCES[number]} {SENTENCES[number + 1]}\n")
        lines.append(" \n")
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    source = text_file(folder / "harbour.txt")
    manifest = annotate([source], folder / "out", settings())
    return source, folder / "out", manifest


class TestInput:
    def test_every_line_is_a_record(self, tmp_path):
        path = tmp_path / "a.txt"
        path.write_bytes("One.\r\n\n \nZwölf.\n".encode() + b"caf\xe9\nLast")
        records = list(reader_of("text")(str(path)))
        assert [record.text for record in records] == ["One.", "", "", "Zwölf.", "", "Last"]
        assert [record.number for record in records] == [1, 2, 3, 4, 5, 6]
        assert [bool(record.bad) for record in records] == [False] * 4 + [True, False]
        assert f"{path}, line 5: not UTF-8" in records[4].bad
        assert records[-1].position == path.stat().st_size

    def test_json_lines(self, tmp_path):
        path = tmp_path / "a.jsonl"
        lines = [
            '{"id": 1, "text": "One \\ud800."}',
            "",
            '{"body": "x"}',
            "[1]",
            '{"text": 1}',
            "{",
        ]
        path.write_text("\n".join(lines))
        records = list(reader_of("jsonl")(str(path)))
        assert records[0].text == "One \ufffd."
        assert records[1] == (2, "", None, "", records[1].position)
        for record, message in zip(
            records[2:],
            ["got the fields 'body'", "expected a JSON object", "expected text", "broken JSON"],
            strict=True,
        ):
            assert message in record.bad
            assert f"line {record.number}" in record.bad
        assert [r.text for r in reader_of("jsonl", field="body")(str(path))][2] == "x"

    def test_words_of_treebanks_are_kept(self, tmp_path):
        path = tmp_path / "a.conllu"
        good = "# text = can't\n1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n" + "".join(
            f"{n}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n" for n, form in ((1, "ca"), (2, "n't"))
        )
        path.write_text(f"# newdoc\n\n{good}\n1\tbad\n\n\n{good}")
        first, bad, last = reader_of("conllu")(str(path))
        assert first.sentences[0].forms == last.sentences[0].forms == ("ca", "n't")
        assert first.text == "can't"
        assert "line 8: expected 10 columns" in bad.bad
        assert last.number == 3

    def test_a_damaged_gzip_file_is_reported(self, tmp_path):
        path = tmp_path / "a.txt.gz"
        path.write_bytes(gzip.compress(b"one\n" * 5000)[:-20])
        with pytest.raises(InputError, match="damaged gzip file after line"):
            list(reader_of("text")(str(path)))

    def test_patterns_and_errors_in_them(self, tmp_path):
        for name in ("b.txt", "a.txt", "c.jsonl"):
            (tmp_path / name).write_text("x")
        found = expand_paths([f"{tmp_path}/*.txt", f"{tmp_path}/c.jsonl", "-"])
        assert [Path(path).name for path in found] == ["a.txt", "b.txt", "c.jsonl", "-"]
        for names, message in (
            ([f"{tmp_path}/*.md"], "matches no file"),
            ([str(tmp_path)], "is a folder; give its files"),
            ([f"{tmp_path}/d.txt"], "no such file"),
            ([f"{tmp_path}/a.txt", f"{tmp_path}/*.txt"], "given twice"),
        ):
            with pytest.raises(InputError, match=message):
                expand_paths(names)

    def test_kinds_by_name(self):
        names = ("a.jsonl.gz", "a.conllu", "a.txt", "a.gz", "-")
        assert [kind_of(name) for name in names] == ["jsonl", "conllu", "text", "text", "text"]
        with pytest.raises(InputError, match="--from must be one of text, lines"):
            reader_of("pdf")

    def test_every_record_is_in_one_chunk(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        chunks, again = (
            list(split_into_chunks([path], [0], reader_of("text"), group=0, characters=200))
            for _ in range(2)
        )
        assert sum(chunk.counts.records for chunk in chunks) == 15
        assert sum(chunk.counts.blank for chunk in chunks) == 3
        assert [chunk.name for chunk in chunks] == [f"00000-{n:06d}" for n in range(len(chunks))]
        assert len({chunk.digest for chunk in chunks}) == len(chunks) > 3
        assert [chunk.digest for chunk in again] == [chunk.digest for chunk in chunks]
        assert [record.number for chunk in chunks for _, record in chunk.records] == [
            number for number in range(1, 16) if number % 5
        ]

    def test_small_files_are_grouped(self, tmp_path, monkeypatch):
        monkeypatch.setattr("syntagma.parse.corpora.chunks.GROUP_BYTES", 100)
        paths = []
        for number, size in enumerate((10, 10, 90, 10, 500, 10)):
            (tmp_path / f"{number}.txt").write_bytes(b"x" * size)
            paths.append(str(tmp_path / f"{number}.txt"))
        assert group_files(paths) == [[0, 1, 2], [3, 4], [5]]


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
        assert shard.metadata["fingerprint"] == "random:3"
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

    def test_without_text(self, corpus, tmp_path):
        source, _, _ = corpus
        annotate([source], tmp_path / "out", settings(text=False))
        corpus_without = AnnotatedCorpus(tmp_path / "out")
        assert next(corpus_without.shards()).texts is None
        with pytest.raises(InputError, match="annotated without text, so its words are unknown"):
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

    def test_other_schema_versions_and_damaged_files(self, corpus, tmp_path, monkeypatch):
        _, folder, _ = corpus
        path = next(folder.glob("*.parquet"))
        monkeypatch.setattr(shards_module, "SCHEMA_VERSION", 3)
        with pytest.raises(DamagedFileError, match="expected schema 3, got 2"):
            Shard(path)
        other = tmp_path / "x.parquet"
        other.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(DamagedFileError, match="damaged, or not a shard"):
            Shard(other)


class TestKinds:
    def test_given_sentences_and_words_are_kept(self, tmp_path, tiny_parser):
        path = tmp_path / "a.txt"
        path.write_text("Mr. Low can't. Go on\nsix seven\n")
        words = {"lines": [7, 2], "words": [5, 2]}
        for kind, lengths in words.items():
            chosen = AnnotationSettings(kind=kind, parser=tiny_parser)
            annotate([str(path)], tmp_path / kind, chosen)
            found = AnnotatedCorpus(tmp_path / kind).sentences()
            assert [len(item.parse) for item in found] == lengths
        bank = treebank(tmp_path / "b.conllu", copies=1)
        annotate_files([bank], tmp_path / "bank", AnnotationSettings(kind="", parser=tiny_parser))
        forms = [
            item.parse.sentence.forms for item in AnnotatedCorpus(tmp_path / "bank").sentences()
        ]
        assert forms == [tuple(sentence.split()) for sentence in SENTENCES]

    def test_words_that_do_not_spell_their_text(self, tmp_path, tiny_parser):
        path = tmp_path / "a.conllu"
        blank = "\t".join("_" * 7)
        lines = [
            "# text = près du port",
            f"1\tprès\t{blank}\t_",
            f"2-3\tdu\t{blank}\t_",
            f"2\tde\t{blank}\t_",
            f"3\tle\t{blank}\t_",
            f"4\tport\t{blank}\t_",
            "",
            "# text = Hello b world c the end",
            f"1\tthe\t{blank}\t_",
            f"2\tb\t{blank}\t_",
            f"3\tc\t{blank}\tSpaceAfter=No",
            "",
        ]
        path.write_text("\n".join(lines) + "\n")
        chosen = AnnotationSettings(kind="conllu", parser=tiny_parser)
        annotate([str(path)], tmp_path / "out", chosen)
        found = list(AnnotatedCorpus(tmp_path / "out").sentences())
        assert [item.parse.sentence.forms for item in found] == [
            ("près", "de", "le", "port"),
            ("the", "b", "c"),
        ]
        assert [item.text for item in found] == ["près du port", "the b c"]
        out = io.StringIO()
        write_corpora([tmp_path / "out"], to="conllu", out=out)
        assert "\n2-3\tdu\t_" in out.getvalue()
        again = list(parse_conllu(out.getvalue().splitlines()))
        assert [sentence.sentence().forms for sentence in again] == [
            item.parse.sentence.forms for item in found
        ]

    def test_a_byte_order_mark_is_not_part_of_a_record(self, tmp_path):
        for kind, text in (
            ("words", "It rains"),
            ("jsonl", '{"text": "It rains"}'),
            ("conllu", "1\tIt\t" + "_\t" * 7 + "_\n2\trains\t" + "_\t" * 7 + "_"),
        ):
            path = tmp_path / f"a.{kind}"
            path.write_text(text + "\n", encoding="utf-8-sig")
            (record,) = reader_of(kind)(str(path))
            assert not record.bad
            assert record.text == "It rains"

    def test_a_pipe(self, tmp_path):
        text = "The barge lay there.\n" * 500
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=(text,))
        writer.start()
        manifest = annotate([str(pipe)], tmp_path / "out", settings())
        writer.join()
        assert manifest.counts.documents == 500

    def test_files_of_a_task(self, tmp_path):
        data = squad(tmp_path / "a.json", copies=2)
        manifest = annotate_files([data], tmp_path / "out", settings(kind="spans"))
        # Two passages, six questions and one more.
        assert manifest.counts.documents == 9

    def test_other_parsers_cannot_keep_words(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        with pytest.raises(InputError, match=r"random:3: .* given .* \(--from words\)"):
            annotate([path], tmp_path / "out", settings(kind="words"))
        assert not (tmp_path / "out").exists()

    def test_patterns_are_expanded_once(self, tmp_path, monkeypatch):
        text_file(tmp_path / "a.txt")
        expanded = []
        monkeypatch.setattr(
            records_module, "glob", lambda name, **_: expanded.append(name) or glob(name)
        )
        pattern = f"{tmp_path}/*.txt"
        annotate_files_here([pattern], tmp_path / "out", settings(kind=""))
        assert expanded == [pattern]
        assert AnnotatedCorpus(tmp_path / "out").manifest.settings["kind"] == "text"

    def test_files_of_several_kinds(self, tmp_path):
        paths = [text_file(tmp_path / "a.txt"), treebank(tmp_path / "b.conllu")]
        with pytest.raises(InputError, match=r"several kinds .*\(conllu, text\)"):
            annotate_files(paths, tmp_path / "out", settings(kind=""))


class TestErrors:
    def test_a_bad_record_stops_the_run_or_is_counted(self, tmp_path, caplog):
        path = tmp_path / "a.jsonl"
        path.write_text('{"text": "One."}\n{"text": 2}\n{"text": "Three."}\n')
        with pytest.raises(InputError, match=r"line 2: .*--skip-bad"):
            annotate([str(path)], tmp_path / "out", settings(kind="jsonl"))
        with caplog.at_level(logging.WARNING):
            manifest = annotate(
                [str(path)], tmp_path / "two", settings(kind="jsonl", skip_bad=True)
            )
        assert manifest.counts.skipped == 1
        assert manifest.counts.documents == 2
        assert "skipped: " in caplog.text

    def test_a_bad_question_stops_the_run_or_is_counted(self, tmp_path, caplog):
        data = json.loads(Path(squad(tmp_path / "a.json", copies=1)).read_text())
        data["data"][0]["paragraphs"][0]["qas"][2]["answers"][0]["answer_start"] += 1
        path = tmp_path / "b.json"
        path.write_text(json.dumps(data))
        with pytest.raises(InputError, match=r"question '0-2'.*or skip such ones: --skip-bad"):
            annotate_files([str(path)], tmp_path / "out", settings(kind="spans"))
        skipping = settings(kind="spans", skip_bad=True)
        with caplog.at_level(logging.WARNING):
            manifest = annotate_files([str(path)], tmp_path / "two", skipping)
        assert manifest.counts.documents == 7
        assert "skipped 1 (1 wrong answer_start)" in caplog.text

    def test_a_run_that_stopped_at_a_bad_record_can_skip_it(self, tmp_path):
        path = tmp_path / "a.jsonl"
        path.write_text('{"text": "The barge lay there."}\n' * 30 + "{\n" + '{"text": "One."}\n')
        with pytest.raises(InputError, match=r"line 31: .*--skip-bad.*--resume"):
            annotate([str(path)], tmp_path / "out", settings(kind="jsonl"))
        before = contents(tmp_path / "out")
        skipping = settings(kind="jsonl", skip_bad=True)
        with pytest.raises(InputError, match="continue it with --resume"):
            annotate([str(path)], tmp_path / "out", skipping)
        manifest = annotate([str(path)], tmp_path / "out", skipping, resume=True)
        assert manifest.counts.skipped == 1
        assert manifest.counts.documents == 31
        shards = {name for name in before if name.endswith(".parquet")}
        assert shards
        annotate([str(path)], tmp_path / "whole", skipping)
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")

    def test_two_runs_in_one_folder(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        with (
            hold_folder(tmp_path / "out"),
            pytest.raises(BusyError, match="another process is at work there"),
        ):
            annotate([path], tmp_path / "out", settings(), resume=True)

    def test_a_parser_without_probabilities(self, tmp_path, tiny_parser):
        path = text_file(tmp_path / "a.txt", copies=1)
        with pytest.raises(InputError, match="random:3 gives no probabilities"):
            annotate([path], tmp_path / "out", settings(confidence=True))
        chosen = AnnotationSettings(parser=tiny_parser, confidence=True)
        annotate([path], tmp_path / "sure", chosen)
        shard = next(AnnotatedCorpus(tmp_path / "sure").shards())
        assert 0 < shard.confidence.min() < shard.confidence.max() <= 1

    def test_a_treebank_whose_words_have_changed(self, tmp_path, tiny_parser):
        path = tmp_path / "a.conllu"
        chosen = AnnotationSettings(kind="conllu", parser=tiny_parser)
        rows = "# text = cannot\n1\tcan\t{0}\tSpaceAfter=No\n2\tnot\t{0}\t_\n\n"
        path.write_text(rows.format("_\t" * 6 + "_"))
        annotate([str(path)], tmp_path / "out", chosen)
        path.write_text("# text = cannot\n1\tcannot\t{}\t_\n\n".format("_\t" * 6 + "_"))
        with pytest.raises(InputError, match="the input has changed"):
            annotate([str(path)], tmp_path / "out", chosen, resume=True)

    def test_a_folder_that_exists(self, corpus):
        source, folder, _ = corpus
        before = contents(folder)
        with pytest.raises(InputError, match="exists and is not empty"):
            annotate([source], folder, settings())
        assert contents(folder) == before

    def test_a_single_process_loads_the_parser_once(self, tmp_path, tiny_parser, monkeypatch):
        loaded = []
        load = ParserModel.from_folder.__func__

        def note(cls, folder, **options):
            loaded.append(folder)
            return load(cls, folder, **options)

        monkeypatch.setattr(ParserModel, "from_folder", classmethod(note))
        path = text_file(tmp_path / "a.txt", copies=1)
        annotate([path], tmp_path / "out", AnnotationSettings(parser=tiny_parser))
        assert len(loaded) == 1
        expected = load_parser(tiny_parser).fingerprint
        (shard,) = AnnotatedCorpus(tmp_path / "out").shards()
        assert shard.metadata["fingerprint"] == expected
        written = json.loads((tmp_path / "out" / "annotation.json").read_text())
        assert written["fingerprint"] == expected

    def test_a_parser_that_has_changed(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        annotate([path], tmp_path / "out", settings())
        described = tmp_path / "out" / "annotation.json"
        described.write_text(described.read_text().replace('"random:3"', '"random:4"', 1))
        with pytest.raises(InputError, match="was started with parser 'random:4', got 'random:3'"):
            annotate([path], tmp_path / "out", settings(), resume=True)
        values = json.loads(described.read_text())
        described.write_text(json.dumps(values | {"parser": "random:3", "fingerprint": "older"}))
        with pytest.raises(InputError, match=r"have changed since .*; name a new folder") as caught:
            annotate([path], tmp_path / "out", settings(), resume=True)
        assert "\n" not in str(caught.value)

    def test_a_damaged_parser_is_reported_by_workers(self, tmp_path, tiny_parser):
        shutil.copytree(tiny_parser, tmp_path / "parser")
        (tmp_path / "parser" / "model.safetensors").write_bytes(b"x")
        path = text_file(tmp_path / "a.txt")
        chosen = AnnotationSettings(parser=str(tmp_path / "parser"))
        with pytest.raises(DamagedFileError, match=r"model\.safetensors: damaged"):
            annotate([path], tmp_path / "out", chosen, workers=2)

    def test_an_unknown_precision_is_rejected_with_the_settings(self):
        with pytest.raises(InputError, match=r"precision must be .* got 'float16'"):
            settings(precision="float16")

    def test_resuming_with_other_settings(self, corpus):
        source, folder, _ = corpus
        with pytest.raises(InputError, match="was started with text True, got False"):
            annotate([source], folder, settings(text=False), resume=True)

    def test_an_input_that_has_changed(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        annotate([path], tmp_path / "out", settings())
        Path(path).write_text(Path(path).read_text().replace("ferry", "barge"))
        with pytest.raises(InputError, match=r"the input has changed since 00000-000000.parquet"):
            annotate([path], tmp_path / "out", settings(), resume=True)

    def test_a_full_disk_leaves_no_partial_file(self, tmp_path, monkeypatch):
        path = text_file(tmp_path / "a.txt")
        annotate([path], tmp_path / "whole", settings())
        import pyarrow.parquet as parquet

        write, written = parquet.write_table, []

        def run_out(table, where, **options):
            Path(where).write_bytes(b"half")
            if len(written) == 2:
                raise OSError(28, "No space left on device")
            written.append(where)
            write(table, where, **options)

        monkeypatch.setattr(parquet, "write_table", run_out)
        with pytest.raises(InputError, match=r"cannot be written .*No space left on device"):
            annotate([path], tmp_path / "out", settings())
        assert len(list((tmp_path / "out").glob("*.parquet"))) == 2
        assert not list((tmp_path / "out").glob(".*.parquet"))
        with pytest.raises(InputError, match="is not finished; continue it with"):
            AnnotatedCorpus(tmp_path / "out")
        monkeypatch.setattr(parquet, "write_table", write)
        annotate([path], tmp_path / "out", settings(), resume=True)
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"workers": 0}, "--workers must be at least 1, got 0"),
            ({"engine": "slurm"}, "--engine must be one of local, ray; got 'slurm'"),
            ({"device": "cuda"}, "--device cuda: there is no such device"),
        ],
    )
    def test_invalid_options(self, tmp_path, options, message):
        path = text_file(tmp_path / "a.txt")
        with pytest.raises(InputError, match=message):
            annotate([path], tmp_path / "out", settings(), **options)
        assert not (tmp_path / "out").exists()

    def test_a_folder_without_a_corpus(self, tmp_path):
        with pytest.raises(InputError, match="no annotated corpus"):
            AnnotatedCorpus(tmp_path)


class TestCheck:
    @pytest.fixture
    def copy(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        annotate([path], tmp_path / "out", settings())
        return path, tmp_path / "out"

    def test_an_intact_corpus(self, copy):
        assert check_corpora([copy[1]]) == len(AnnotatedCorpus(copy[1]))

    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            (
                lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
                "bytes do not match the checksum",
            ),
            (lambda path: path.unlink(), "is missing"),
            (lambda path: path.with_name("x.parquet").write_bytes(b""), "is not in manifest"),
        ],
    )
    def test_damage_is_detected_and_repaired_by_resume(self, copy, damage, message):
        path, folder = copy
        before = contents(folder)
        damage(sorted(folder.glob("*.parquet"))[1])
        with pytest.raises(InputError, match=message):
            check_corpora([folder])
        annotate([path], folder, settings(), resume=True)
        assert contents(folder) == before

    def test_trees_are_checked(self, copy, monkeypatch):
        monkeypatch.setattr("syntagma.parse.corpora.corpus.Shard", lambda path: broken)
        for change in (lambda h: h * 0, lambda h: np.where(h == 0, 1, h), lambda h: h + 99):
            broken = Shard(sorted(copy[1].glob("*.parquet"))[0])
            broken.heads = change(broken.heads)
            assert any("are not trees" in line for line in AnnotatedCorpus(copy[1]).check())


RUN = """
import sys
from syntagma.parse.corpora import runner
from syntagma.parse.corpora.annotator import AnnotationSettings
if __name__ == "__main__":
    settings = AnnotationSettings(parser="random:3", shard_characters=2000)
    path, out, workers, engine = sys.argv[1:]
    if engine == "ray":
        import ray
        ray.init(num_cpus=int(workers), log_to_driver=False, include_dashboard=False)
    runner.annotate([path], out, settings, workers=int(workers), resume=True, engine=engine)
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    path = text_file(folder / "a.txt", copies=600)
    chosen = AnnotationSettings(parser="random:3", shard_characters=2000)
    annotate([path], folder / "whole", chosen)
    (folder / "run.py").write_text(RUN)
    return folder, path, contents(folder / "whole")


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class TestProcesses:
    def start(self, large, out, workers, engine="local"):
        folder, path, _ = large
        arguments = [folder / "run.py", path, out, workers, engine]
        return subprocess.Popen(
            [sys.executable, *map(str, arguments)], stderr=subprocess.PIPE, text=True
        )

    def wait_for_shards(self, out, count, process):
        deadline = time.monotonic() + 60
        while len(list(out.glob("0*.parquet"))) < count:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def test_a_run_killed_at_any_moment_can_be_resumed(self, large, tmp_path):
        out = tmp_path / "out"
        for workers, count in ((1, 3), (2, 20), (1, 45)):
            process = self.start(large, out, workers)
            self.wait_for_shards(out, count, process)
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert len(list(out.glob("0*.parquet"))) < len(large[2]) - 2
        assert self.start(large, out, 2).wait(120) == 0
        assert contents(out) == large[2]

    def test_a_killed_worker_stops_the_run_without_losses(self, large, tmp_path):
        out = tmp_path / "out"
        process = self.start(large, out, 2)
        self.wait_for_shards(out, 3, process)
        workers = [worker for server in children(process.pid) for worker in children(server)]
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        assert process.wait(60) == 1
        message = process.stderr.read()
        assert "a worker was killed" in message
        assert "--resume" in message
        for pid in workers:
            # No worker outlives the run.
            deadline = time.monotonic() + 20
            while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not Path(f"/proc/{pid}").exists()
        assert self.start(large, out, 1).wait(120) == 0
        assert contents(out) == large[2]

    def test_a_ray_cluster_with_a_worker_on_every_core_writes_the_same_shards(
        self, large, tmp_path
    ):
        pytest.importorskip("ray")
        process = self.start(large, tmp_path / "out", 2, "ray")
        try:
            assert process.wait(300) == 0, process.stderr.read()
        finally:
            process.kill()
        assert contents(tmp_path / "out") == large[2]
