"""`syntagma compare`: options, JSON and the picture of the intervals."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("scipy")

from tests.messages import one_line, says
from tests.written_runs import written_run

SCORES = [1.0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1]
PARAGRAPHS = list("aabbccddeeff")


@pytest.fixture
def runs(tmp_path):
    """Three seeds of three systems; a system and a seed each answer some more questions."""
    return [
        written_run(
            tmp_path / f"{preset}-{seed}",
            [max(score, float(n % (5 - place) == seed)) for n, score in enumerate(SCORES)],
            preset=preset, seed=seed, train=f"seed {seed}", clusters={"paragraph": PARAGRAPHS},
        )
        for place, preset in enumerate(("none", "sg-net", "poi-net"))
        for seed in (1, 2, 3)
    ]  # fmt: skip


def test_intervals_are_printed_and_written(run, runs, tmp_path):
    pytest.importorskip("matplotlib")
    out, picture = tmp_path / "compared.json", tmp_path / "intervals.svg"
    code, text, _ = run(
        "compare", *runs, "--control", "poi-net", "--cluster", "example", "--resamples", "999",
        "--json", out, "--plot", picture,
    )  # fmt: skip
    assert code == 0
    assert says(text, "seeds examples both detectable 12 examples 999 Holm 2 comparisons poi-net")
    found = json.loads(out.read_text())
    assert [system["name"] for system in found["systems"]] == ["poi-net", "none", "sg-net"]
    assert (found["cluster"], found["n_clusters"], found["n_resamples"]) == ("example", 12, 999)
    assert found["systems"][1]["shared_seeds"] == [1, 2, 3]
    assert found["systems"][0]["p_seeds"] is None
    assert "Δ exact from poi-net" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--control", "sgnet"], "--control sgnet 'sg-net' poi-net"),
        (["--cluster", "paragrph"], "--cluster paragrph 'paragraph'"),
        (["--cluster", "article"], "--cluster article dev.json paragraph example"),
        (["--resamples", "10"], "--resamples 10 999"),
    ],
)
def test_bad_options_are_reported_in_one_line(run, runs, options, message):
    code, out, err = run("compare", *runs, *options)
    assert (code, out) == (2, "")
    assert says(one_line(err), message)


@pytest.mark.parametrize("options", [["--cluster", "example"], ["--resamples", "999"]])
@pytest.mark.parametrize("what", [["--by", "label"], ["--answer-tags"]])
def test_a_single_run_is_not_resampled(run, runs, what, options):
    code, out, err = run("compare", runs[0], *what, *options)
    assert (code, out) == (2, "")
    assert says(one_line(err), f"{options[0]} intervals")


def test_a_single_run_has_no_intervals_to_draw(run, runs, tmp_path):
    pytest.importorskip("matplotlib")
    code, _, err = run("compare", runs[0], "--plot", tmp_path / "a.svg")
    assert code == 2
    assert says(one_line(err), "--plot --by")
    code, _, err = run("compare", *runs[:3], "--plot", tmp_path / "a.svg")
    assert code == 2
    assert says(one_line(err), "a.svg --by")
