"""Products in small blocks equal those of NumPy, and leave no thread of OpenBLAS spinning."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from syntagma.text.segmentation.products import multiply

SPINNING = """
import sys, time
import numpy as np
from syntagma.text.segmentation.segment import segment

segment("The ferry left. " * 200)
if sys.argv[1] == "directly":
    np.ones((4096, 512), np.float32) @ np.ones((512, 512), np.float32)
before, _ = time.process_time(), time.sleep(0.05)
print(time.process_time() - before)
"""


@pytest.mark.parametrize("shape", [(192, 128), (128,), (32, 1), (24, 300), (20_000, 20)])
@pytest.mark.parametrize("n", [0, 1, 7, 72, 1000])
def test_it_is_the_product(n, shape):
    random = np.random.default_rng(0)
    rows = random.normal(size=(n, shape[0])).astype(np.float32)
    matrix = random.normal(size=shape).astype(np.float32)
    found = multiply(rows, matrix)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, rows @ matrix, rtol=1e-4, atol=1e-4 * shape[0])


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no other threads")
def test_cutting_text_leaves_no_thread_spinning():
    kept = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}

    def seconds(how: str) -> float:
        command = [sys.executable, "-c", SPINNING, how]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=kept)
        return float(done.stdout)

    if seconds("directly") < 0.02:
        pytest.skip("threads of this NumPy do not spin")
    assert seconds("") < 0.02
