"""The choice of bfloat16 on CPUs; missing devices are rejected."""

from __future__ import annotations

import platform
import re

import pytest
import torch

from syntagma.encoders.cpu import processor as this_processor
from syntagma.encoders.precision import autocast, fast_bfloat16, require_device
from syntagma.errors import InputError
from syntagma.parse.sources.load import load_parser
from syntagma.tasks.spans.reader import Reader
from tests.messages import naming

ABSENT = f"cuda:{torch.cuda.device_count()}"


@pytest.fixture
def processor(monkeypatch):
    """Return a function that simulates another CPU."""

    def simulate(capability, *, amx=False, avx512_bf16=False, maker="AuthenticAMD"):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512_bf16)
        monkeypatch.setattr(this_processor, "described", lambda: f"vendor_id : {maker}")
        fast_bfloat16.cache_clear()

    yield simulate
    fast_bfloat16.cache_clear()


@pytest.mark.parametrize(
    ("capability", "features", "fast"),
    [
        ("AVX2", {}, False),
        # Torch may be restricted to fewer instructions than the CPU has.
        ("AVX2", {"amx": True, "avx512_bf16": True}, False),
        ("AVX512", {}, False),
        ("AVX512", {"avx512_bf16": True}, True),
        ("AVX512", {"avx512_bf16": True, "maker": "GenuineIntel"}, False),
        ("AVX512", {"avx512_bf16": True, "amx": True, "maker": "GenuineIntel"}, True),
        ("DEFAULT", {}, False),
    ],
)
def test_bfloat16_is_used_where_it_is_faster(processor, capability, features, fast):
    processor(capability, **features)
    assert fast_bfloat16("cpu") is fast
    for chosen, rounded in (("auto", fast), ("bfloat16", True), ("float32", False)):
        with autocast(torch.device("cpu"), chosen):
            product = torch.ones(2, 2) @ torch.ones(2, 2)
        assert product.dtype == (torch.bfloat16 if rounded else torch.float32)


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="only x86 CPUs name their vendor"
)
def test_the_vendor_of_this_cpu_is_found():
    assert re.search(
        "GenuineIntel|AuthenticAMD|HygonGenuine|CentaurHauls", this_processor.described()
    )


@pytest.mark.parametrize("load", [Reader.from_pretrained, load_parser])
@pytest.mark.parametrize("device", [ABSENT, torch.device(ABSENT), "gpu"])
def test_a_model_on_a_missing_device_is_rejected(load, device):
    name = "default" if load == Reader.from_pretrained else "default-parser"
    with pytest.raises(InputError, match=naming(f"device {device} cpu cuda cuda:N mps")):
        load(name, device=device)


def test_the_cpu_always_exists():
    require_device("cpu")
    require_device(torch.device("cpu"))


@pytest.mark.parametrize("precision", ["int8", "bfloat16"])
def test_a_precision_that_the_weights_do_not_have_is_refused(precision):
    """torch would end in an error of mixed types at the first text."""
    found = rf"precision {precision} is for weights in float32, and dtype .* float16; omit one"
    with pytest.raises(InputError, match=found):
        load_parser("fast-parser", dtype="float16", precision=precision)
    with pytest.raises(InputError, match=found):
        Reader.from_pretrained("default", dtype="float16", precision=precision)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_weights_of_another_type_compute_in_it_by_default(dtype):
    text = "Ada Mensah fitted a coal barge with an engine."
    # Its own precision is int8, which is for weights in float32.
    parses = list(load_parser("fast-parser", dtype=dtype).parse_text(text))
    assert len(parses[0].heads) == 10
    answer = Reader.from_pretrained("default", dtype=dtype).answer(text, "Who fitted a barge?")
    assert answer.text == "Ada Mensah"
