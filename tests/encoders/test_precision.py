"""Devices that are not there are refused in a line, from Python as on the command line."""

from __future__ import annotations

import pytest
import torch

from syntagma.encoders.precision import require_device
from syntagma.errors import InputError
from syntagma.parse.load import load_parser
from syntagma.tasks.spans.reader import Reader

ABSENT = f"cuda:{torch.cuda.device_count()}"


@pytest.mark.parametrize("load", [Reader.from_pretrained, load_parser])
@pytest.mark.parametrize("device", [ABSENT, torch.device(ABSENT), "gpu"])
def test_a_model_is_not_put_where_nothing_is(load, device):
    name = "default" if load == Reader.from_pretrained else "default-parser"
    with pytest.raises(InputError, match=f"device {device}: expected cpu, cuda, cuda:N or mps"):
        load(name, device=device)


def test_the_processor_is_always_there():
    require_device("cpu")
    require_device(torch.device("cpu"))
