"""Packages with entry points, as pip would have installed them, without pip."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from syntagma import plugins


@contextmanager
def installing(folder: Path) -> Iterator[pytest.MonkeyPatch]:
    """Let packages be installed into a folder, and forget them and their modules afterwards."""
    before, files = {*sys.modules}, {*plugins._imported}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv(plugins.FILES, "")  # The code under test sets it; it is restored afterwards.
        path = [*sys.path]
        plugins.find_plugins.cache_clear()
        yield patch
        sys.path[:] = path
        for name in {*sys.modules} - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
        plugins._imported.clear()
        plugins._imported.update(files)
    plugins.find_plugins.cache_clear()


def install(
    folder: Path, package: str, entries: Mapping[str, Mapping[str, str]], **modules: str
) -> None:
    """Install a package.

    Args:
        folder: on the search path.
        package: name of the package, version 0.1.
        entries: place of each part, by group and name.
        modules: code of each module.
    """
    info = folder / f"{package.replace('-', '_')}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
    lines = []
    for group, places in entries.items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in places.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code)
    plugins.find_plugins.cache_clear()
