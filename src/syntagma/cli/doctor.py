"""Report what is installed, found and missing."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from syntagma import __version__, cpu_threads
from syntagma.encoders.default import ENCODERS, MODELS, find_download, named_model
from syntagma.errors import InputError, SyntagmaError, how_to_install
from syntagma.registry import Registry

PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "numpy")
EXTRAS = {
    "train": ("accelerate",),
    "data": ("pyarrow", "datasets"),
    "stats": ("scipy",),
    "sweep": ("optuna",),
    "lora": ("peft",),
    "mt": ("sacrebleu",),
    "sentencepiece": ("sentencepiece",),
    "plot": ("matplotlib",),
    "cluster": ("ray",),
    "documents": ("bm25s", "lxml", "markdown_it", "pypdfium2", "Stemmer"),
    "parsers": ("spacy", "stanza"),
    "haystack": ("haystack",),
    "nltk": ("nltk",),
    "serve": ("fastapi", "uvicorn", "prometheus_client"),
    "export": ("onnx", "onnxruntime", "onnxscript"),
}


def report() -> Iterator[str]:
    """Yield the lines of the report: versions, devices, models, cache, export, extras."""
    yield f"syntagma       {__version__}, Python {platform.python_version()}, {platform.machine()}"
    for package in PACKAGES:
        yield f"{package:<14} {_version(package)}"
    yield from _devices()
    yield from _threads()
    yield from _models()
    yield f"serve          {_serving()}"
    yield _export()
    yield from _plugins()
    if missing := _missing_extras():
        yield f"extras missing {', '.join(missing)}: {how_to_install(*missing)}"
    else:
        yield "extras         all installed"


def summary() -> dict[str, Any]:
    """Return the report as plain values, as in the JSON file of ``doctor --json``."""
    import torch

    from syntagma.parse.sources.cache import cache_folder

    packages = {name: _version(name) for name in PACKAGES}
    return {
        "syntagma": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "packages": packages,
        "devices": [
            "cpu",
            *(f"cuda:{number}" for number in range(torch.cuda.device_count())),
            *(["mps"] if torch.backends.mps.is_available() else []),
        ],
        "threads": torch.get_num_threads(),
        "encoders": {name: _found(find_download, name) for name in ENCODERS},
        "models": {name: _found(named_model, name) for name in MODELS},
        "cache": str(cache_folder()),
        "missing_extras": _missing_extras(),
    }


def _found(find: Callable[[str], Path | None], name: str) -> str | None:
    """Return the folder of a model, or ``None`` if it is missing or damaged."""
    try:
        folder = find(name)
    except SyntagmaError:
        return None
    return None if folder is None else str(folder)


def _missing_extras() -> list[str]:
    return [name for name, modules in EXTRAS.items() if not all(map(find_spec, modules))]


def _serving() -> str:
    """Say whether ``syntagma serve`` can run with the shipped models, and what it lacks."""
    from syntagma.encoders.default import DEFAULT, find_download, how_to_get

    if not all(map(find_spec, EXTRAS["serve"])):
        return f"its packages are missing; {how_to_install('serve')}"
    try:
        if find_download(DEFAULT) is None:
            return f"can run with models of your own; for ours, encoder {how_to_get(DEFAULT)}"
    except SyntagmaError as error:
        return str(error)
    return "can run: syntagma serve"


def _export() -> str:
    """Say whether models can be exported, and for which runtime."""
    if all(map(find_spec, EXTRAS["export"])):
        return f"export         to ONNX, checked with onnxruntime {_version('onnxruntime')}"
    return f"export         not possible; {how_to_install('export')}"


def _version(module: str) -> str:
    """Return the version of a module, whose package may have another name (onnxruntime-gpu)."""
    try:
        return metadata.version(module)
    except metadata.PackageNotFoundError:
        return str(import_module(module).__version__)


def _plugins() -> Iterator[str]:
    """Say which parts other packages offer, and which of them cannot be used, and why."""
    from syntagma.models.guides import GUIDES
    from syntagma.parse.sources.registered import PARSERS
    from syntagma.retrieval.registered import RETRIEVERS
    from syntagma.tasks import TASKS

    registries: tuple[Registry[Any], ...] = (GUIDES, TASKS, PARSERS, RETRIEVERS)
    for registry in registries:
        for name in registry.plugins():
            try:
                registry.check_plugin(name)
                line = f"{registry.kind} {name}: {registry.plugins()[name][0]}"
            except InputError as error:
                line = f"{registry.kind} {name} cannot be used: {' '.join(str(error).split())}"
            yield f"plug-in        {line}"


def _devices() -> Iterator[str]:
    import torch

    from syntagma.encoders.precision import fast_bfloat16

    precision = "bfloat16" if fast_bfloat16("cpu") else "float32"
    yield f"device         cpu, {torch.get_num_threads()} threads, {precision}"
    for number in range(torch.cuda.device_count()):
        yield f"device         cuda:{number}, {torch.cuda.get_device_name(number)}"
    if torch.backends.mps.is_available():
        yield "device         mps"


def _threads() -> Iterator[str]:
    """Say which settings of threads are in force, whose they are, and how other programs get them.

    Other programs, which import the package, start threads as torch does by default.
    """
    name = cpu_threads.setting()
    whose = "the default" if cpu_threads.SETTING not in os.environ else "yours"
    yield f"threads        {cpu_threads.SETTING}={name} ({whose}), {_cores()}"
    shown = (cpu_threads.N_THREADS, cpu_threads.SPIN_COUNT, "OMP_WAIT_POLICY")
    for variable in shown:
        if variable in os.environ:
            whose = "set by syntagma" if variable in cpu_threads.chosen else "yours"
            yield f"               {variable}={os.environ[variable]} ({whose})"
    if needed := [f"{key}={cpu_threads.chosen[key]}" for key in shown if key in cpu_threads.chosen]:
        yield f"               in your own programs: export {' '.join(needed)}, before they start"


def _cores() -> str:
    quota = cpu_threads.cpu_quota()
    limit = "" if quota is None else f", limited to {quota:g} by a control group"
    return f"{cpu_threads.available_cores()} of {os.cpu_count()} cores{limit}"


def _models() -> Iterator[str]:
    from syntagma.encoders.config import read_config
    from syntagma.encoders.default import ENCODERS, MODELS, find_download, how_to_get, named_model
    from syntagma.encoders.named_models import NAMED_MODELS
    from syntagma.parse.sources.cache import cache_folder

    for name in ENCODERS:
        try:
            where = find_download(name) or how_to_get(name)
        except SyntagmaError as error:
            where = str(error)
        yield f"encoder        {name}: {where}"
    for name in MODELS:
        try:
            row, task = NAMED_MODELS[name], read_config(named_model(name)).task
            about = f"{task}, version {row.version}, SHA-256 {row.digest[:16]}…"
            yield f"model          {name}: {about}"
        except SyntagmaError as error:
            yield f"model          {error}"
    yield f"cache          {cache_folder()}"
