"""How `parse` cuts text: --lang and --tokenizer."""

from __future__ import annotations

import pytest


def test_text_is_cut_by_another_tokenizer(run, tmp_path, tiny_parser):
    (tmp_path / "a.txt").write_text("don't stop .\nnow\n")
    code, out, err = run(
        "parse", tmp_path / "a.txt", "--parser", tiny_parser, "--tokenizer", "whitespace"
    )
    assert (code, err) == (0, "")
    forms = [line.split("\t")[1] for line in out.splitlines() if line[:1].isdigit()]
    assert forms == ["don't", "stop", ".", "now"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tokenizer", "spaces"), "spaces whitespace"),
        (("--tokenizer", "whitespace", "--lang", "en"), "--lang --tokenizer"),
        (("--tokenizer", "whitespace", "--from", "words"), "--tokenizer --from words"),
        (("--tokenizer", "whitespace", "--pretokenized"), "--tokenizer --from words"),
        (("--lang", "de"), "'de' en"),
        (("--lang", "de", "--parser", "default-parser:en"), "--lang de default-parser:en"),
        (("--lang", "en", "--parser", "linear"), "--lang linear"),
    ],
)
def test_what_contradicts_is_one_line(run, tmp_path, tiny_parser, options, message):
    (tmp_path / "a.txt").write_text("now\n")
    parser = () if "--parser" in options else ("--parser", tiny_parser)
    code, out, err = run("parse", tmp_path / "a.txt", *parser, *options)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert all(word in err for word in message.split())
