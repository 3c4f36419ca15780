"""Store the weights of an ONNX file in 8-bit integers; what is computed stays in float32.

Only the weights are rounded: rounding what they are multiplied with too, as onnxruntime's dynamic
quantisation does, changes up to 13 best spans in a hundred (``docs/export.md`` has the figures).

Matrices have a scale for each block of numbers in a column.  The graph turns them back into float32
with operations on constants, which onnxruntime computes once, when it loads the file: a prediction
takes as long as without rounding.  Tables of embeddings have a scale for each row, and only the
rows that are looked up are turned back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.export.onnx_file import MOST_BYTES

SMALLEST = 1 << 12
"""Numbers in the smallest matrix that is worth rounding."""
BLOCK = 32
"""Numbers of a column that share a scale."""
STEPS = 127
"""Steps on each side of zero."""
TINY = 1e-30


def round_to_int8(path: Path) -> None:
    """Round the weights of a file to 8 bits, in place.

    Args:
        path: the file; weights of over :data:`~syntagma.export.onnx_file.MOST_BYTES` are beside it,
            before and after.
    """
    import onnx

    model = onnx.load(path)
    _round_weights(model.graph)
    beside = path.with_name(f"{path.name}.data")
    beside.unlink(missing_ok=True)  # onnx would append to it.
    large = sum(len(weight.raw_data) for weight in model.graph.initializer) > MOST_BYTES
    onnx.save(model, path, save_as_external_data=large, location=beside.name)


def _round_weights(graph: Any) -> None:
    """Replace the large matrices of a graph by integers, scales, and what multiplies them."""
    from onnx import TensorProto, numpy_helper

    large = {
        weight.name: weight
        for weight in graph.initializer
        if weight.data_type == TensorProto.FLOAT
        and len(weight.dims) == 2
        and np.prod(weight.dims) >= SMALLEST
    }
    # A table of which all rows are used somewhere is a matrix as well.
    tables = {node.input[0] for node in graph.node if _looks_up(node)}
    tables -= {name for node in graph.node if not _looks_up(node) for name in node.input}
    parts: dict[str, NDArray[Any]] = {}
    nodes: list[Any] = []
    for name, weight in large.items():
        values = numpy_helper.to_array(weight)
        if name in tables:
            parts |= _rounded(name, values, axis=1)
        else:
            size = BLOCK if len(values) % BLOCK == 0 else len(values)
            blocks = values.reshape(-1, size, values.shape[1])
            parts |= _rounded(name, blocks, axis=1)
            parts[f"{name}_shape"] = np.array(values.shape, np.int64)
            nodes += _restore(name)
    for node in graph.node:
        is_rounded = _looks_up(node) and node.input[0] in tables and node.input[0] in large
        nodes += _restore_rows(node) if is_rounded else [node]
    kept = [weight for weight in graph.initializer if weight.name not in large]
    kept += [numpy_helper.from_array(part, name) for name, part in parts.items()]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)


def _rounded(name: str, values: NDArray[Any], *, axis: int) -> dict[str, NDArray[Any]]:
    """Return integers and scales; the numbers along an axis share a scale."""
    scales = np.maximum(np.abs(values).max(axis, keepdims=True) / STEPS, TINY)
    return {
        f"{name}_int8": np.round(values / scales).astype(np.int8),
        f"{name}_scale": scales.astype(np.float32),
    }


def _restore(name: str) -> list[Any]:
    """Return the nodes that compute a matrix, under its name, from integers and scales."""
    from onnx import TensorProto, helper

    return [
        helper.make_node("Cast", [f"{name}_int8"], [f"{name}_float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}_float", f"{name}_scale"], [f"{name}_blocks"]),
        helper.make_node("Reshape", [f"{name}_blocks", f"{name}_shape"], [name]),
    ]


def _restore_rows(lookup: Any) -> list[Any]:
    """Return the nodes that look up rows of a table in integers and scales."""
    from onnx import TensorProto, helper

    table, places, rows = lookup.input[0], lookup.input[1], lookup.output[0]
    return [
        helper.make_node("Gather", [f"{table}_int8", places], [f"{rows}_int8"]),
        helper.make_node("Gather", [f"{table}_scale", places], [f"{rows}_scale"]),
        helper.make_node("Cast", [f"{rows}_int8"], [f"{rows}_float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{rows}_float", f"{rows}_scale"], [rows]),
    ]


def _looks_up(node: Any) -> bool:
    """Whether a node takes rows of a table."""
    axis = next((each.i for each in node.attribute if each.name == "axis"), 0)
    return bool(node.op_type == "Gather" and axis == 0)
