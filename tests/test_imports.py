"""Importing the package changes no global state of the process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import contextlib, importlib, json, logging, os, pkgutil, random, signal, sys, threading, warnings

# What other packages change when they are imported is not what this looks for.
for package in ("haystack", "spacy"):
    with contextlib.suppress(ImportError):
        importlib.import_module(package)
import numpy, torch, torch._dynamo.config, transformers
import transformers.masking_utils
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.models.auto.configuration_auto import CONFIG_MAPPING


def state():
    root = logging.getLogger()
    return {
        "dynamo": repr(sorted(torch._dynamo.config.get_config_copy().items())),
        "dtype": str(torch.get_default_dtype()),
        "threads": [torch.get_num_threads(), torch.get_num_interop_threads()],
        "gradients": torch.is_grad_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "precision": torch.get_float32_matmul_precision(),
        "seed": int(torch.initial_seed()),
        "generators": [repr(random.getstate()), repr(numpy.random.get_state())],
        "errors": repr(numpy.geterr()),
        "filters": repr(warnings.filters),
        "handlers": [repr(root.handlers), root.level, transformers.logging.get_verbosity()],
        "environment": dict(os.environ),
        "path": list(sys.path),
        "folder": os.getcwd(),
        "signals": {int(key): repr(signal.getsignal(key)) for key in signal.valid_signals()},
        "hooks": [repr(sys.excepthook), repr(threading.excepthook), repr(sys.displayhook)],
        "attention": sorted(AttentionInterface().valid_keys()),
        "masks": sorted(AttentionMaskInterface().valid_keys()),
        "configurations": sorted(CONFIG_MAPPING._extra_content),
    }


before = state()
import syntagma
for module in pkgutil.walk_packages(syntagma.__path__, "syntagma."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
after = state()
changed = {key: [before[key], after[key]] for key in before if before[key] != after[key]}
n_modules = sum(name.startswith("syntagma.") for name in sys.modules)
print(json.dumps({"changed": changed, "modules": n_modules}))
"""


@pytest.mark.slow
def test_importing_every_module_changes_no_global_state():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["changed"] == {}
    assert found["modules"] > 250
