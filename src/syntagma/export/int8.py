"""Store the weights of an ONNX file in 8-bit integers.

Matrices are rounded by onnxruntime, each column by a scale of its own; what they are multiplied
with is rounded as it comes.  Tables of embeddings are rounded here, each row by a scale of its own:
onnxruntime would take one scale for a whole table, which its largest number would make coarse.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from syntagma.export.onnx_file import MOST_BYTES, quiet

SMALLEST_TABLE = 1 << 16
"""Numbers in the smallest table that is worth rounding."""
TINY = 1e-30


def round_to_int8(path: Path, rounded: Path) -> None:
    """Write a copy of a file with weights of 8 bits.

    Args:
        path: the file.
        rounded: the copy.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load(path)
    _round_tables(model.graph)
    with quiet():
        quantize_dynamic(
            model,
            rounded,
            weight_type=QuantType.QInt8,
            per_channel=True,
            # On CPUs without VNNI, sums of products of 8 bits each would overflow.
            reduce_range=True,
            op_types_to_quantize=["MatMul", "Gemm"],
            use_external_data_format=path.stat().st_size > MOST_BYTES,
        )


def _round_tables(graph: Any) -> None:
    """Replace each large table of embeddings by integers and a scale for each row."""
    from onnx import TensorProto, helper, numpy_helper

    weights = {weight.name: weight for weight in graph.initializer}
    others = {name for node in graph.node if not _looks_up(node) for name in node.input}
    tables = {
        name
        for name, weight in weights.items()
        if weight.data_type == TensorProto.FLOAT
        and len(weight.dims) == 2
        and weight.dims[0] * weight.dims[1] >= SMALLEST_TABLE
        and name not in others
    }
    nodes: list[Any] = []
    replaced: dict[str, list[Any]] = {}
    for node in graph.node:
        table = weights.get(node.input[0]) if _looks_up(node) else None
        if table is None or table.name not in tables:
            nodes.append(node)
            continue
        values = numpy_helper.to_array(table)
        found, place = node.output[0], node.input[1]
        names = [f"{table.name}_int8", f"{table.name}_scale"]
        if table.name not in replaced:
            scales = np.maximum(np.abs(values).max(1, keepdims=True) / 127, TINY)
            parts = np.round(values / scales).astype(np.int8), scales.astype(np.float32)
            replaced[table.name] = [
                numpy_helper.from_array(part, name) for part, name in zip(parts, names, strict=True)
            ]
        nodes += [
            helper.make_node("Gather", [names[0], place], [f"{found}_int8"]),
            helper.make_node("Cast", [f"{found}_int8"], [f"{found}_float"], to=TensorProto.FLOAT),
            helper.make_node("Gather", [names[1], place], [f"{found}_scale"]),
            helper.make_node("Mul", [f"{found}_float", f"{found}_scale"], [found]),
        ]
    kept = [weight for weight in graph.initializer if weight.name not in replaced]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend([*kept, *(part for parts in replaced.values() for part in parts)])


def _looks_up(node: Any) -> bool:
    """Whether a node takes rows of a table."""
    axis = next((each.i for each in node.attribute if each.name == "axis"), 0)
    return bool(node.op_type == "Gather" and axis == 0)
