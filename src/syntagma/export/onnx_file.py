"""Write a graph as an ONNX file, and run it with onnxruntime."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.errors import InputError, MissingExtraError
from syntagma.export.graphs import ROOT_AND_WORDS, Graph, Port

MODEL = "model.onnx"
MOST_BYTES = 1_800_000_000
"""The most bytes of weights inside the file: protobuf allows two gigabytes."""
REASON = 300
"""Characters of torch's own message that are shown."""


def require_extra() -> None:
    """Check that the packages that write and run ONNX files are installed.

    Raises:
        MissingExtraError: one of them is not.
    """
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("syntagma export", "export") from error


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the warnings of the exporter, which concern its own code."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


def write_onnx(graph: Graph, batch: Mapping[str, Tensor], path: Path, *, what: str) -> None:
    """Export a graph.

    Args:
        graph: the graph.
        batch: an example of its inputs, by their names; at least two of everything.
        path: the file to write; weights of over :data:`MOST_BYTES` are written beside it.
        what: the model, as the subject of an error message.

    Raises:
        InputError: torch cannot export the graph.
    """
    require_extra()
    names = [port.name for port in graph.inputs]
    axes = tuple(
        {axis: name for axis, name in enumerate(port.shape) if isinstance(name, str)}
        for port in graph.inputs
    )
    graph.eval()
    try:
        with quiet(), torch.no_grad():
            program: Any = torch.onnx.export(
                graph,
                tuple(batch[name] for name in names),
                input_names=names,
                output_names=[port.name for port in graph.outputs],
                dynamic_shapes=(axes,),
                dynamo=True,
                verbose=False,
            )
            _name_axes(program, graph.outputs)
            size = sum(each.numel() * each.element_size() for each in graph.parameters())
            program.save(str(path), external_data=size > MOST_BYTES)
    except Exception as error:
        if isinstance(error, OSError):
            raise
        raise InputError(f"{what}: torch cannot export it to ONNX ({_reason(error)})") from error


def _name_axes(program: Any, outputs: Sequence[Port]) -> None:
    """Name the axes of the outputs whose size depends on the inputs, as their ports do."""
    import onnx_ir

    for value, port in zip(program.model.graph.outputs, outputs, strict=True):
        named = (axis if axis != ROOT_AND_WORDS else "root_and_words" for axis in port.shape)
        value.shape = onnx_ir.Shape(list(named))


def _reason(error: BaseException) -> str:
    """Return the innermost cause in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines)[:REASON]}"


class Session:
    """Runs an ONNX file with onnxruntime on the CPU.

    Args:
        path: the file.
        n_threads: number of threads; by default onnxruntime's own choice.
    """

    def __init__(self, path: Path, *, n_threads: int = 0) -> None:
        require_extra()
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = n_threads
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [each.name for each in self._session.get_inputs()]
        self.outputs = [each.name for each in self._session.get_outputs()]

    def __call__(self, batch: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
        """Compute the outputs by their names.

        Args:
            batch: the inputs by their names; others are ignored.
        """
        tensors = {name: np.asarray(batch[name]) for name in self._inputs}
        return dict(zip(self.outputs, self._session.run(None, tensors), strict=True))
