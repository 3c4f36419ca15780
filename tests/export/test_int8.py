"""Weights in 8 bits: as near as their scales allow, in a file of a quarter of the size."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from syntagma.export import int8
from syntagma.export.int8 import round_to_int8

WIDTH = 64


def weights():
    """A table that is looked up, a matrix, one whose rows make no blocks, and a small one."""
    sizes = {"table": (200, WIDTH), "matrix": (WIDTH, 96), "uneven": (96, 65), "small": (65, 3)}
    random = np.random.default_rng(7)
    found = {name: random.normal(size=size).astype(np.float32) for name, size in sizes.items()}
    found["table"][3] *= 100  # It must not make other rows coarse.
    found["table"][4] = 0
    return found


@pytest.fixture
def path(tmp_path):
    """A file that computes table[ids] @ matrix @ uneven @ small."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"]),
        helper.make_node("MatMul", ["rows", "matrix"], ["first"]),
        helper.make_node("MatMul", ["first", "uneven"], ["second"]),
        helper.make_node("MatMul", ["second", "small"], ["third"]),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])
            for name, size in (("rows", WIDTH), ("third", 3))
        ],
        [numpy_helper.from_array(values, name) for name, values in weights().items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def run(path):
    session = onnxruntime.InferenceSession(str(path))
    return session.run(None, {"ids": np.arange(200)})


def test_numbers_are_as_near_as_their_scales_allow(path):
    before, size = run(path), path.stat().st_size
    round_to_int8(path)
    after = run(path)
    assert path.stat().st_size < 0.35 * size
    largest = np.abs(before[0]).max(1, keepdims=True)
    assert (np.abs(after[0] - before[0]) <= largest / 254 * 1.001).all()
    assert not np.array_equal(after[0], before[0])
    usual = slice(5, None)
    difference = np.linalg.norm((after[1] - before[1])[usual])
    assert difference < 0.02 * np.linalg.norm(before[1][usual])


def test_only_small_weights_and_scales_stay_in_float32(path):
    round_to_int8(path)
    kept = {each.name: each for each in onnx.load(path).graph.initializer}
    floats = {name for name, each in kept.items() if each.data_type == TensorProto.FLOAT}
    assert floats == {"small", "table_scale", "matrix_scale", "uneven_scale"}
    assert list(kept["matrix_scale"].dims) == [2, 1, 96]
    assert list(kept["uneven_scale"].dims) == [3, 1, 65]
    assert list(kept["table_scale"].dims) == [200, 1]


def test_a_table_that_is_also_multiplied_is_a_matrix(path):
    model = onnx.load(path)
    model.graph.node.append(helper.make_node("Transpose", ["table"], ["turned"], perm=[1, 0]))
    model.graph.node.append(helper.make_node("MatMul", ["rows", "turned"], ["tied"]))
    model.graph.output.append(helper.make_tensor_value_info("tied", TensorProto.FLOAT, None))
    onnx.save(model, path)
    before = run(path)
    round_to_int8(path)
    after = run(path)
    np.testing.assert_allclose(after[2], after[0] @ after[0].T, rtol=1e-4, atol=1e-2)
    assert np.abs(after[2] - before[2]).max() < 0.01 * np.abs(before[2]).max()


def test_weights_beside_the_file_are_replaced(path, monkeypatch):
    monkeypatch.setattr(int8, "MOST_BYTES", 1000)
    beside = path.with_name("model.onnx.data")
    onnx.save(onnx.load(path), path, save_as_external_data=True, location=beside.name)
    size, before = beside.stat().st_size, run(path)
    round_to_int8(path)
    assert beside.stat().st_size < 0.5 * size
    np.testing.assert_allclose(run(path)[1], before[1], atol=0.05 * np.abs(before[1]).max())
