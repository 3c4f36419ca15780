"""``syntagma export``: what cannot be exported is said in one line, before any work."""

from __future__ import annotations

import pytest

from tests.messages import one_line, says


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no/such", "--out", "new"), "no/such"),
        (("PARSER", "--out", "full"), "full empty"),
        (("PARSER", "--out", "new", "--to", "tflite"), "--to onnx 'tflite'"),
        (("PARSER", "--out", "new", "--phrases"), "--phrases omit"),
        (("PARSER", "--out", "new", "--parser", "linear"), "parser 'linear' omit"),
        (("PARSER", "--out", "new", "--check", "no.conllu"), "no.conllu"),
    ],
)
def test_bad_input(run, tiny_parser, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/kept.txt").write_text("kept")
    given = [tiny_parser if word == "PARSER" else word for word in arguments]
    code, out, err = run("export", *given)
    assert (code, out) == (2, "")
    assert says(one_line(err), words)
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == ["full"]
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["kept.txt"]


def test_it_prints_how_far_the_export_is_from_the_model(run, tiny_parser, tmp_path):
    from tests.builders import treebank

    data = treebank(tmp_path / "tides.conllu", copies=1)
    code, out, _ = run("export", tiny_parser, "--out", tmp_path / "parser", "--check", data)
    assert code == 0
    assert "examples (tides.conllu)" in out
    assert "equal predictions: 100.0 %" in out
    assert out.splitlines()[-1].endswith(f"MB → {tmp_path / 'parser'}")
