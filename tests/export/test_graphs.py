"""Exported graphs compute what the models do, for all guides, encoders, tasks and sizes."""

from __future__ import annotations

import numpy as np
import pytest

from syntagma.export.families import family_of
from syntagma.export.folder import make_plain
from syntagma.export.onnx_file import MODEL, Session, write_onnx
from syntagma.export.parity import run_model
from tests.conftest import ENCODERS
from tests.export.exported import GUIDES, new_task

TOLERANCE = 1e-4
QUICK = [
    ("spans", "bert", "sg-net"),
    ("pairs", "roberta", "seprem"),
    ("typing", "mpnet", "tree_bias"),
    ("pairs", "mpnet", "ancestor_heads"),
    ("choice", "distilbert", "poi-net"),
    ("parsing", "bert", "none"),
]
SLOW = [
    *(("pairs", encoder, "sg-net") for encoder in ENCODERS if encoder != "modernbert"),
    *(("spans", "bert", guides) for guides in GUIDES),
    *((task, "bert", "all") for task in ("choice", "relations", "typing", "probing")),
    ("open_qa", "bert", "none"),
    ("pairs", "modernbert", "seprem"),
]
CASES = [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]
ROWS = {
    "spans": [("The old ferry crossed the wide river before dawn.", "What crossed?")],
    "pairs": [("The old ferry crossed.", "A gull cried.")],
    "choice": [("The old ferry crossed.", "What crossed?", ("ferry", "the old gull", "rain"))],
    "probing": ["The old ferry crossed ."],
}
ROWS["open_qa"] = ROWS["spans"]


def rows_of(task, family, name):
    """The examples that the model was made for, and a shorter one: its padding must not count."""
    own = family.example_rows(task.read(name[1]))
    return [*ROWS.get(name[0], []), *own][:7]


@pytest.mark.parametrize(("name", "encoder", "guides"), CASES)
def test_a_graph_computes_what_the_model_does(name, encoder, guides, encoder_folders, tmp_path):
    task, data = new_task(name, encoder_folders[encoder], tmp_path, guides)
    family = family_of(task)
    make_plain(family.model)
    items = family.items(rows_of(task, family, (name, data)))
    write_onnx(family.graph, family.batch(items[:3]), tmp_path / MODEL, what=name)
    session = Session(tmp_path / MODEL, n_threads=1)
    assert session.outputs == [port.name for port in family.graph.outputs]
    # Another number of sequences, and other lengths, than the graph was traced with.
    for chosen in (items[:1], items[-2:], items):
        batch = family.batch(chosen)
        wanted, got = run_model(family.graph, batch), session(batch)
        for output, values in wanted.items():
            np.testing.assert_allclose(got[output], values, rtol=0, atol=TOLERANCE)
        assert family.predictions(wanted, batch) == family.predictions(got, batch)


@pytest.mark.parametrize("layers", ["top", "weighted"])
def test_a_parser_with_morphology_is_exported_with_it(encoder_folders, tmp_path, layers):
    head = {"morphology": ["feats", "lemmas"], "layers": layers}
    task, data = new_task("parsing", encoder_folders["bert"], tmp_path, head=head)
    family = family_of(task)
    make_plain(family.model)
    batch = family.batch(family.items(family.example_rows(task.read(data))[:3]))
    write_onnx(family.graph, batch, tmp_path / MODEL, what="parser")
    wanted, got = run_model(family.graph, batch), Session(tmp_path / MODEL, n_threads=1)(batch)
    np.testing.assert_allclose(got["arcs"], wanted["arcs"], rtol=0, atol=TOLERANCE)
    for name in ("feats", "lemmas"):
        assert got[name].shape[-1] == len(task.model.config.labels[name])
        np.testing.assert_allclose(got[name], wanted[name], rtol=0, atol=TOLERANCE)


def test_integers_decide_what_the_guides_of_a_graph_do(encoder_folders, tmp_path):
    """Without trees the scores differ: the mask is in the graph, not a constant of the tracing."""
    task, data = new_task("spans", encoder_folders["bert"], tmp_path, "sg-net")
    family = family_of(task)
    make_plain(family.model)
    items = family.items(family.example_rows(task.read(data))[:3])
    batch = family.batch(items)
    write_onnx(family.graph, batch, tmp_path / MODEL, what="reader")
    session = Session(tmp_path / MODEL, n_threads=1)
    flat = {**batch, "exit": batch["enter"] + 1}
    wanted = run_model(family.graph, flat)
    context = batch["context"].numpy()
    assert np.abs(session(batch)["start"] - wanted["start"])[context].max() > 100 * TOLERANCE
    np.testing.assert_allclose(session(flat)["start"], wanted["start"], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", ["parsing", "spans"])
def test_axes_have_names(name, encoder_folders, tmp_path):
    import onnx

    task, data = new_task(name, encoder_folders["bert"], tmp_path)
    family = family_of(task)
    make_plain(family.model)
    items = family.items(family.example_rows(task.read(data))[:3])
    write_onnx(family.graph, family.batch(items), tmp_path / MODEL, what=name)
    graph = onnx.load(tmp_path / MODEL).graph
    shapes = {
        value.name: [axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim]
        for value in [*graph.input, *graph.output]
    }
    assert shapes["input_ids"] == ["batch", "length"]
    if name == "spans":
        assert shapes["start"] == ["batch", "length"]
    else:
        assert shapes["arcs"] == ["batch", "words", "root_and_words"]
        assert shapes["n_words"] == ["batch"]
