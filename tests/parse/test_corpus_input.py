"""Reading the records of texts, treebanks and data files to annotate."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
from glob import glob
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from syntagma.cli.annotation import write_corpora
from syntagma.errors import InputError
from syntagma.parse.corpora import records as records_module
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.chunks import group_files, split_into_chunks
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.corpora.records import expand_paths, kind_of, reader_of
from syntagma.parse.sources.load import load_source
from syntagma.tasks.annotation import annotate_files
from syntagma.text.conllu import parse_conllu
from tests.builders import squad, treebank
from tests.conftest import SENTENCES
from tests.corpora import annotate, settings, text_file
from tests.messages import naming, says


def annotate_files_here(inputs, out, chosen):
    """Annotate in this process."""
    return annotate_files(inputs, out, chosen, workers=1)


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

    @pytest.mark.parametrize("kind", ["text", "words", "jsonl", "conllu"])
    def test_a_line_with_a_nul_is_invalid(self, tmp_path, kind):
        path = tmp_path / "a"
        path.write_bytes("It rains.\n".encode("utf-16-le"))
        first = next(reader_of(kind)(str(path)))
        assert first.text == ""
        assert says(first.bad, "a NUL line 1 `iconv -f utf-16 -t utf-8`")
        with pytest.raises(InputError, match=naming("a NUL line 1 iconv --skip-bad")):
            list(split_into_chunks([str(path)], [0], reader_of(kind), group=0, characters=9))

    def test_fields_and_errors_of_json_lines(self, tmp_path):
        path = tmp_path / "a.jsonl"
        lines = [
            '{"id": 1, "text": "One."}',
            "",
            '{"body": "x"}',
            "[1]",
            '{"text": 1}',
            "{",
        ]
        path.write_text("\n".join(lines))
        records = list(reader_of("jsonl")(str(path)))
        assert records[0].text == "One."
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
        with pytest.raises(InputError, match=naming("a.txt.gz gzip line 2323")):
            list(reader_of("text")(str(path)))

    def test_patterns_are_expanded_or_rejected(self, tmp_path):
        for name in ("b.txt", "a.txt", "c.jsonl"):
            (tmp_path / name).write_text("x")
        found = expand_paths([f"{tmp_path}/*.txt", f"{tmp_path}/c.jsonl", "-"])
        assert [Path(path).name for path in found] == ["a.txt", "b.txt", "c.jsonl", "-"]
        for patterns, message in (
            ([f"{tmp_path}/*.md"], f"{tmp_path}/*.md"),
            ([str(tmp_path)], f"{tmp_path} folder '{tmp_path}/*.txt'"),
            ([f"{tmp_path}/d.txt"], f"{tmp_path}/d.txt"),
            ([f"{tmp_path}/a.txt", f"{tmp_path}/*.txt"], f"{tmp_path}/a.txt twice"),
        ):
            with pytest.raises(InputError, match=naming(message)):
                expand_paths(patterns)

    def test_the_kind_of_a_file_depends_on_its_extension(self):
        names = ("a.jsonl.gz", "a.conllu", "a.txt", "a.gz", "-")
        assert [kind_of(name) for name in names] == ["jsonl", "conllu", "text", "text", "text"]
        names = ("DATA.JSONL", "x.jsonl.GZ", "x.ndjson", "TREE.CONLLU", "TREE.CONLL.GZ")
        assert [kind_of(name) for name in names] == ["jsonl"] * 3 + ["conllu"] * 2
        with pytest.raises(InputError, match=naming("--from text lines words jsonl conllu pdf")):
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

    def test_words_that_do_not_spell_their_text_are_kept(self, tmp_path, tiny_parser):
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

    def test_sentences_that_touch_are_marked(self, tmp_path):
        path = tmp_path / "a.txt"
        path.write_text("It rains。We row。 She sang。\nNo。\n", encoding="utf-8")
        annotate([str(path)], tmp_path / "out", settings())
        out = io.StringIO()
        write_corpora([tmp_path / "out"], to="conllu", out=out)
        found = list(parse_conllu(out.getvalue().splitlines()))
        assert [sentence.text for sentence in found] == [
            "It rains。",
            "We row。",
            "She sang。",
            "No。",
        ]
        assert [sentence.touches_next for sentence in found] == [True, False, False, False]

    def test_multi_word_tokens_are_those_of_the_treebank(self, tmp_path, tiny_parser):
        path = tmp_path / "a.conllu"
        blank = "\t".join("_" * 7)
        lines = [
            f"1-2\tMilas'lı\t{blank}\t_",  # One that does not follow the rules for English.
            f"1\tMilas'\t{blank}\t_",
            f"2\tlı\t{blank}\t_",
            f"3\tkız\t{blank}\t_",
            "",
            f"1\tdo\t{blank}\tSpaceAfter=No",  # None, where they would find one.
            f"2\tn't\t{blank}\t_",
            "",
            f"1-2\tdon't\t{blank}\t_",
            f"1\tdo\t{blank}\t_",
            f"2\tn't\t{blank}\t_",
            "",
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        chosen = AnnotationSettings(kind="conllu", parser=tiny_parser)
        annotate([str(path)], tmp_path / "out", chosen)
        (shard,) = AnnotatedCorpus(tmp_path / "out").shards()
        assert shard.multiword == [((0, 2),), (), None]
        out = io.StringIO()
        write_corpora([tmp_path / "out"], to="conllu", out=out)
        again = list(parse_conllu(out.getvalue().splitlines()))
        assert [[row[1] for row in sentence.rows if "-" in row[0]] for sentence in again] == [
            ["Milas'lı"],
            [],
            ["don't"],
        ]
        # Only where it is needed, so that other files are as before.
        path.write_text("\n".join(lines[-4:]) + "\n", encoding="utf-8")
        annotate([str(path)], tmp_path / "plain", chosen)
        (shard,) = AnnotatedCorpus(tmp_path / "plain").shards()
        assert shard.multiword is None

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

    def test_a_pipe_can_be_annotated(self, tmp_path):
        text = "The barge lay there.\n" * 500
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=(text,))
        writer.start()
        manifest = annotate([str(pipe)], tmp_path / "out", settings())
        writer.join()
        assert manifest.counts.documents == 500

    def test_files_of_a_task_can_be_annotated(self, tmp_path):
        data = squad(tmp_path / "a.json", copies=2)
        manifest = annotate_files([data], tmp_path / "out", settings(kind="spans"))
        # Two passages, six answerable questions and an unanswerable one.
        assert manifest.counts.documents == 9

    def test_unpaired_surrogates_are_replaced(self, tmp_path):
        first, second = "The gull \ud83d sings.", "It rains."
        for kind, row in (
            ("pairs", {"sentence1": first, "sentence2": second, "label": "a"}),
            ("jsonl", {"text": first}),
        ):
            path = tmp_path / f"{kind}.jsonl"
            path.write_text(json.dumps(row) + "\n")
            out = tmp_path / kind
            annotate_files_here([str(path)], out, settings(kind=kind))
            found = next(AnnotatedCorpus(out).sentences())
            assert found.text == "The gull \ufffd sings."
            # The texts of the task are found in the corpus as they are.
            ((parse,),) = load_source(f"parquet:{out}").parse_texts([first])
            assert parse.heads == found.parse.heads
            assert parse.sentence.starts == found.parse.sentence.starts

    def test_other_parsers_cannot_keep_words(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        with pytest.raises(
            InputError, match=naming("--parser random:3 --from words default-parser")
        ):
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

    def test_files_of_several_kinds_are_rejected(self, tmp_path):
        paths = [text_file(tmp_path / "a.txt"), treebank(tmp_path / "b.conllu")]
        with pytest.raises(InputError, match=naming("conllu text --from")):
            annotate_files(paths, tmp_path / "out", settings(kind=""))
