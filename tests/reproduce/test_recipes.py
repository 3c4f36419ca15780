"""Recipes generate the files that datasets refer to, completely and only once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syntagma.errors import InputError
from syntagma.parse.sources.controls import ChainSource
from syntagma.reproduce.recipes import DEV_EVERY, RECIPES, make_probing_sets
from syntagma.reproduce.runs import Setting
from syntagma.reproduce.work import plan_entry, reproduce
from syntagma.tasks.probing.data import read_probe
from tests.builders import squad, treebank
from tests.conftest import SENTENCES
from tests.messages import naming

SPANS = ("head.max_length=96", "head.doc_stride=32", "head.max_question_length=24", "data.limit=30")


@pytest.mark.slow
def test_substitutes_are_generated_once_and_reported(tmp_path, tiny_encoder, tiny_parser):
    (tmp_path / "squad").mkdir()
    squad(tmp_path / "squad/train-v1.1.json", 2)
    whole = json.loads(Path(squad(tmp_path / "part.json", 2)).read_text())
    (article,) = whole["data"]
    whole["data"] = [
        {"title": str(number), "paragraphs": [paragraph]}
        for number, paragraph in enumerate(article["paragraphs"])
    ]
    (tmp_path / "squad/v2.0-part.json").write_text(json.dumps(whole))
    setting = Setting(
        tmp_path, tmp_path / "out", "tiny", tiny_encoder, tiny_parser, overrides=SPANS
    )
    plan = plan_entry("sg-net", "table6", setting)
    lines: list[str] = []
    found = reproduce(plan, say=lines.append)
    making = [line for line in lines if line.startswith("making")]
    assert [line.rpartition("/")[2] for line in making] == [
        "unanswerable.json",
        "v2_fit.json",
    ]
    held = json.loads((setting.made / "v2_held.json").read_text())
    assert [article["title"] for article in held["data"]] == ["1"]
    assert any("generated from it" in line for line in found.differs)
    lines.clear()
    reproduce(plan, say=lines.append)
    assert not [line for line in lines if line.startswith("making")]


def test_paragraphs_are_split_into_corpora(tmp_path, tiny_parser):
    pytest.importorskip("pyarrow")
    from syntagma.parse.corpora.corpus import AnnotatedCorpus

    sources = []
    for name in ("a.txt", "b.txt"):
        lines = [f"{name} {number}. {SENTENCES[number % 8]}" for number in range(DEV_EVERY + 5)]
        (tmp_path / name).write_text("\n".join(lines))
        sources.append(tmp_path / name)
    RECIPES["corpora/train"].make(sources, tmp_path / "made", tiny_parser, True)
    dev = (tmp_path / "made/corpora/dev.txt").read_text().splitlines()
    assert [line.partition(".txt ")[2].partition(".")[0] for line in dev] == ["0", "50"] * 2
    assert len(AnnotatedCorpus(tmp_path / "made/corpora/dev")) >= len(dev)


def test_probing_sets_are_in_sentevals_format(tmp_path, monkeypatch):
    class Chains(ChainSource):
        """Parses without phrases and tags, which suffice for only some of the properties."""

    monkeypatch.setattr("syntagma.parse.sources.load.load_parser", lambda name, decoding: Chains())
    text = tmp_path / "a.txt"
    text.write_text("\n".join(f"{SENTENCES[n % 8]} {SENTENCES[n % 5]}" for n in range(300)))
    counts = make_probing_sets([text], tmp_path / "probing", "", True)
    assert counts["bigram_shift"] > 0
    for name, count in counts.items():
        path = tmp_path / f"probing/{name}.txt"
        assert path.is_file() == bool(count)
        assert not count or len(read_probe(path)) == count


def test_probing_sets_alternate_between_text_files_and_treebanks(tmp_path, monkeypatch):
    seen = []

    class Chains(ChainSource):
        def parse_texts(self, texts):
            for text in texts:
                seen.append(text)
                yield from super().parse_texts([text])

    monkeypatch.setattr("syntagma.parse.sources.load.load_parser", lambda name, decoding: Chains())
    text = tmp_path / "a.txt"
    text.write_text("\n".join(f"{n} {SENTENCES[n % 8]}" for n in range(4000)))
    bank = treebank(tmp_path / "b.conllu", copies=2)
    make_probing_sets([text, bank], tmp_path / "both", "", n_sentences=60)
    made = (tmp_path / "both/bigram_shift.txt").read_text()
    assert 0 < len(seen) < 60, "sentences of the treebank alternate with those of the text"
    counts = make_probing_sets([bank], tmp_path / "trees", "no-such-parser")
    assert counts["bigram_shift"] > 0
    assert made
    empty = tmp_path / "c.txt"
    empty.write_text("Oh.\n")
    with pytest.raises(InputError, match=naming("c.txt 1 sentences")):
        make_probing_sets([empty], tmp_path / "none", "")
    assert not (tmp_path / "none").exists()
