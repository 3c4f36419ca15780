"""Reproduce tables on a machine with a GPU and no network.

Here, with the package and its data under `data/`:

    python experiments/gpu.py prepare .carry squad dream nli

There, from the source tree:

    PYTHONPATH=src python experiments/gpu.py run .carry OUT sg-net/table6 poi-net/table8 \\
        --seeds 3 --set squad1/data.limit=null

The table and the result of each entry are written to OUT, as by `syntagma reproduce`; `--pack
squad1/sg-net-1` also writes the model of that run.  Interrupted runs are resumed as long as the
machine keeps its files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

ARCHIVE = "carried.tar.xz"
RUNS = Path(tempfile.gettempdir()) / "syntagma-runs"


def prepare(carry: Path, data: Path, folders: list[str]) -> None:
    """Pack the encoder in float16, and folders of data unchanged."""
    from safetensors.torch import load_file, save_file

    from syntagma.encoders.default import find_default

    source = find_default()
    assert source is not None
    with tempfile.TemporaryDirectory() as name:
        encoder = Path(name)
        for part in ("config.json", "tokenizer.json", "tokenizer_config.json"):
            shutil.copy(source / part, encoder)
        weights = {
            key: value.half()
            for key, value in load_file(source / "model.safetensors").items()
            if value.is_floating_point() and "pooler" not in key
        }
        save_file(weights, encoder / "model.safetensors", metadata={"format": "pt"})
        carry.mkdir(exist_ok=True)
        with tarfile.open(carry / ARCHIVE, "w:xz") as archive:
            archive.add(encoder, "encoder")
            for folder in folders:
                archive.add(data / folder, f"data/{folder}")
    print(f"{(carry / ARCHIVE).stat().st_size / 2**20:.1f} MiB in {carry / ARCHIVE}")


def run(carry: Path, out: Path, options: argparse.Namespace) -> None:
    """Reproduce entries one after another, and copy their results."""
    place = Path(tempfile.gettempdir()) / "syntagma-carried"
    if not place.is_dir():
        with tarfile.open(carry / ARCHIVE) as archive:
            archive.extractall(place, filter="data")
    os.environ["SYNTAGMA_ENCODER"] = str(place / "encoder")
    os.environ.setdefault("SYNTAGMA_CACHE", str(RUNS / "cache"))
    from syntagma.evaluation import pack
    from syntagma.reproduce.runs import Setting
    from syntagma.reproduce.work import plan_entry, reproduce

    setting = Setting(
        place / "data", RUNS, options.scale, seeds=options.seeds, overrides=tuple(options.overrides)
    )
    out.mkdir(parents=True, exist_ok=True)
    for name in options.what:
        paper, _, entry = name.partition("/")
        plan = plan_entry(paper, entry, setting)
        print(f"\n{reproduce(plan, say=print).table()}\n", flush=True)
        for path in plan.folder.iterdir():
            if path.is_file():
                shutil.copy(path, out / f"{plan.folder.name}.{path.name}")
    for name in options.pack:
        pack(RUNS / setting.scale / name, out / name.replace("/", "_"), bits=4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    here = steps.add_parser("prepare")
    here.add_argument("carry", type=Path)
    here.add_argument("what", nargs="+", help="folders of the data")
    here.add_argument("--data", type=Path, default=Path("data"))
    there = steps.add_parser("run")
    there.add_argument("carry", type=Path)
    there.add_argument("out", type=Path)
    there.add_argument("what", nargs="+", help="PAPER/ENTRY")
    there.add_argument("--seeds", type=int, default=1)
    there.add_argument("--scale", default="cpu")
    there.add_argument("--set", dest="overrides", action="append", default=[])
    there.add_argument("--pack", action="append", default=[], help="BASE/RUN to keep")
    options = parser.parse_args()
    if options.step == "prepare":
        prepare(options.carry, options.data, options.what)
    else:
        run(options.carry, options.out, options)


if __name__ == "__main__":
    main()
