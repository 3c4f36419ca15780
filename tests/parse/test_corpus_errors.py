"""Errors that stop an annotation, and conditions under which it is not resumed."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from syntagma.errors import BusyError, DamagedFileError, InputError
from syntagma.outputs import hold_folder
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.corpus import AnnotatedCorpus
from syntagma.parse.corpora.manifest import SETTINGS
from syntagma.parse.scorer import ParserModel
from syntagma.parse.sources.load import load_parser
from syntagma.tasks.annotation import annotate_files
from tests.builders import squad
from tests.corpora import annotate, contents, settings, text_file
from tests.messages import naming, says


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    source = text_file(folder / "harbour.txt")
    annotate([source], folder / "out", settings())
    return source, folder / "out"


class TestErrors:
    def test_a_bad_record_stops_the_run_or_is_counted(self, tmp_path, caplog):
        path = tmp_path / "a.jsonl"
        path.write_text('{"text": "One."}\n{"text": 2}\n{"text": "Three."}\n')
        with pytest.raises(InputError, match=naming("a.jsonl line 2 text --skip-bad --resume")):
            annotate([str(path)], tmp_path / "out", settings(kind="jsonl"))
        with caplog.at_level(logging.WARNING):
            manifest = annotate(
                [str(path)], tmp_path / "two", settings(kind="jsonl", skip_bad=True)
            )
        assert manifest.counts.skipped == 1
        assert manifest.counts.documents == 2
        assert says(caplog.text, "a.jsonl line 2 text")

    @pytest.mark.slow
    def test_a_bad_question_stops_the_run_or_is_counted(self, tmp_path, caplog):
        data = json.loads(Path(squad(tmp_path / "a.json", copies=1)).read_text())
        data["data"][0]["paragraphs"][0]["qas"][2]["answers"][0]["answer_start"] += 1
        path = tmp_path / "b.json"
        path.write_text(json.dumps(data))
        with pytest.raises(InputError, match=naming("b.json 0-2 --skip-bad")):
            annotate_files([str(path)], tmp_path / "out", settings(kind="spans"))
        skipping = settings(kind="spans", skip_bad=True)
        with caplog.at_level(logging.WARNING):
            manifest = annotate_files([str(path)], tmp_path / "two", skipping)
        assert manifest.counts.documents == 7
        assert says(caplog.text, "1 answer_start")

    def test_a_run_that_stopped_at_a_bad_record_can_skip_it(self, tmp_path):
        path = tmp_path / "a.jsonl"
        path.write_text('{"text": "The barge lay there."}\n' * 30 + "{\n" + '{"text": "One."}\n')
        with pytest.raises(InputError, match=naming("a.jsonl line 31 JSON --skip-bad --resume")):
            annotate([str(path)], tmp_path / "out", settings(kind="jsonl"))
        before = contents(tmp_path / "out")
        skipping = settings(kind="jsonl", skip_bad=True)
        with pytest.raises(InputError, match=naming(f"{tmp_path / 'out'} empty --resume")):
            annotate([str(path)], tmp_path / "out", skipping)
        manifest = annotate([str(path)], tmp_path / "out", skipping, resume=True)
        assert manifest.counts.skipped == 1
        assert manifest.counts.documents == 31
        shards = {name for name in before if name.endswith(".parquet")}
        assert shards
        annotate([str(path)], tmp_path / "whole", skipping)
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")

    def test_a_second_run_in_the_same_folder_is_rejected(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        with (
            hold_folder(tmp_path / "out"),
            pytest.raises(BusyError, match=naming(f"{tmp_path / 'out'} another process")),
        ):
            annotate([path], tmp_path / "out", settings(), resume=True)

    def test_confidence_requires_a_parser_with_probabilities(self, tmp_path, tiny_parser):
        path = text_file(tmp_path / "a.txt", copies=1)
        with pytest.raises(InputError, match=naming("--confidence random:3 default-parser")):
            annotate([path], tmp_path / "out", settings(confidence=True))
        chosen = AnnotationSettings(parser=tiny_parser, confidence=True)
        annotate([path], tmp_path / "sure", chosen)
        shard = next(AnnotatedCorpus(tmp_path / "sure").shards())
        assert 0 < shard.confidence.min() < shard.confidence.max() <= 1

    def test_only_parsers_of_this_package_take_a_precision(self, tmp_path):
        path = text_file(tmp_path / "a.txt", copies=1)
        with pytest.raises(InputError, match=naming("--precision --parser random:3")):
            annotate([path], tmp_path / "out", settings(precision="float32"))
        assert not (tmp_path / "out").exists()

    def test_a_run_on_a_treebank_whose_words_have_changed_is_not_resumed(
        self, tmp_path, tiny_parser
    ):
        path = tmp_path / "a.conllu"
        chosen = AnnotationSettings(kind="conllu", parser=tiny_parser)
        rows = "# text = cannot\n1\tcan\t{0}\tSpaceAfter=No\n2\tnot\t{0}\t_\n\n"
        path.write_text(rows.format("_\t" * 6 + "_"))
        annotate([str(path)], tmp_path / "out", chosen)
        path.write_text("# text = cannot\n1\tcannot\t{}\t_\n\n".format("_\t" * 6 + "_"))
        with pytest.raises(InputError, match=naming("00000-000000.parquet input new folder")):
            annotate([str(path)], tmp_path / "out", chosen, resume=True)

    def test_an_existing_folder_is_not_overwritten(self, corpus):
        source, folder = corpus
        before = contents(folder)
        with pytest.raises(InputError, match=naming(f"{folder} empty --resume")):
            annotate([source], folder, settings())
        assert contents(folder) == before

    def test_a_link_to_nothing_is_named_as_the_cause(self, corpus, tmp_path):
        source, _ = corpus
        link = tmp_path / "link"
        link.symlink_to(tmp_path / "gone")
        with pytest.raises(InputError, match=naming(f"{link} link {tmp_path / 'gone'} folder")):
            annotate([source], link, settings())

    def test_a_single_process_loads_the_parser_once(self, tmp_path, tiny_parser, monkeypatch):
        loaded = []
        load = ParserModel.load_saved.__func__

        def record_load(cls, ref, **options):
            loaded.append(ref)
            return load(cls, ref, **options)

        monkeypatch.setattr(ParserModel, "load_saved", classmethod(record_load))
        path = text_file(tmp_path / "a.txt", copies=1)
        annotate([path], tmp_path / "out", AnnotationSettings(parser=tiny_parser))
        assert len(loaded) == 1
        expected = load_parser(tiny_parser).fingerprint
        (shard,) = AnnotatedCorpus(tmp_path / "out").shards()
        assert shard.metadata["fingerprint"] == expected
        written = json.loads((tmp_path / "out" / "annotation.json").read_text())
        assert written["fingerprint"] == expected

    def test_a_run_whose_parser_has_changed_is_not_resumed(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        annotate([path], tmp_path / "out", settings())
        described = tmp_path / "out" / "annotation.json"
        described.write_text(described.read_text().replace('"random:3"', '"random:4"', 1))
        with pytest.raises(InputError, match=naming("parser random:4 random:3")):
            annotate([path], tmp_path / "out", settings(), resume=True)
        values = json.loads(described.read_text())
        described.write_text(json.dumps(values | {"parser": "random:3", "fingerprint": "older"}))
        with pytest.raises(InputError, match=naming("parser segmentation new folder")) as caught:
            annotate([path], tmp_path / "out", settings(), resume=True)
        assert "\n" not in str(caught.value)

    def test_a_damaged_parser_is_reported_by_workers(self, tmp_path, tiny_parser):
        shutil.copytree(tiny_parser, tmp_path / "parser")
        (tmp_path / "parser" / "model.safetensors").write_bytes(b"x")
        path = text_file(tmp_path / "a.txt")
        chosen = AnnotationSettings(parser=str(tmp_path / "parser"))
        with pytest.raises(DamagedFileError, match=naming("model.safetensors changed")):
            annotate([path], tmp_path / "out", chosen, workers=2)

    def test_an_unknown_precision_is_rejected_with_the_settings(self):
        with pytest.raises(InputError, match=naming("precision float16")):
            settings(precision="float16")

    def test_resuming_with_other_settings_is_rejected(self, corpus):
        source, folder = corpus
        with pytest.raises(InputError, match=naming(f"{folder} text True False")):
            annotate([source], folder, settings(text=False), resume=True)

    def test_a_run_whose_settings_are_damaged_is_not_resumed(self, corpus, tmp_path):
        source, folder = corpus
        copy = Path(shutil.copytree(folder, tmp_path / "copy"))
        (copy / SETTINGS).write_text("[]")
        with pytest.raises(DamagedFileError, match=naming(f"{SETTINGS} expected object again")):
            annotate([source], copy, settings(), resume=True)

    def test_a_run_whose_input_has_changed_is_not_resumed(self, tmp_path):
        path = text_file(tmp_path / "a.txt")
        annotate([path], tmp_path / "out", settings())
        Path(path).write_text(Path(path).read_text().replace("ferry", "barge"))
        with pytest.raises(InputError, match=naming("00000-000000.parquet input new folder")):
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
        with pytest.raises(
            InputError, match=naming("00000-000002.parquet No space left on device")
        ):
            annotate([path], tmp_path / "out", settings())
        assert len(list((tmp_path / "out").glob("*.parquet"))) == 2
        assert not list((tmp_path / "out").glob(".*.parquet"))
        with pytest.raises(
            InputError, match=naming(f"{tmp_path / 'out'} `syntagma annotate --resume")
        ):
            AnnotatedCorpus(tmp_path / "out")
        monkeypatch.setattr(parquet, "write_table", write)
        annotate([path], tmp_path / "out", settings(), resume=True)
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"workers": 0}, "--workers 1 0"),
            ({"engine": "slurm"}, "--engine local ray slurm"),
            ({"device": "cuda"}, "--device cuda cpu"),
        ],
    )
    def test_invalid_options_are_rejected(self, tmp_path, options, message):
        path = text_file(tmp_path / "a.txt")
        with pytest.raises(InputError, match=naming(message)):
            annotate([path], tmp_path / "out", settings(), **options)
        assert not (tmp_path / "out").exists()

    def test_a_folder_without_a_corpus_is_rejected(self, tmp_path):
        with pytest.raises(InputError, match=naming(f"{tmp_path} corpus annotate")):
            AnnotatedCorpus(tmp_path)
