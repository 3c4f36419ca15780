"""Train readers on a machine with a GPU and no network, and print the table.

Here, with the package, its data under `data/` and `runs/made.json` (see reader_sg-net.yaml):

    python experiments/gpu.py prepare .carry

There, from the source tree:

    PYTHONPATH=src python experiments/gpu.py run .carry OUT --seeds 1 2 3

Each system and seed leaves a packed model and its metrics in OUT.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import tarfile
import tempfile
import time
from pathlib import Path

SQUAD = ["train-v1.1.json.gz", "dev-v1.1.json.gz"]
MADE = ["made.json", "v2_fit.json", "v2_held.json"]
SYSTEMS = ("plain", "sg-net")
ARCHIVE = "carried.tar.xz"


def prepare(carry: Path) -> None:
    """The encoder in float16, and the data, compressed."""
    from safetensors.torch import load_file, save_file

    from syntagma.encoders.default import find_default

    source = find_default()
    assert source is not None
    draft = Path(tempfile.mkdtemp())
    (draft / "encoder").mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(source / name, draft / "encoder")
    weights = {name: w.half() for name, w in load_file(source / "model.safetensors").items()
               if w.is_floating_point() and "pooler" not in name}  # fmt: skip
    save_file(weights, draft / "encoder" / "model.safetensors", metadata={"format": "pt"})
    for name in SQUAD:
        (draft / name.removesuffix(".gz")).write_bytes(
            gzip.decompress((Path("data/squad") / name).read_bytes())
        )
    for name in MADE:
        shutil.copy(Path("runs") / name, draft)
    carry.mkdir(exist_ok=True)
    with tarfile.open(carry / ARCHIVE, "w:xz") as archive:
        archive.add(draft, ".")
    shutil.rmtree(draft)
    print(f"{(carry / ARCHIVE).stat().st_size / 2**20:.1f} MiB in {carry / ARCHIVE}")


def run(
    carry: Path, out: Path, *, seeds: list[int], systems: list[str], changes: list[str]
) -> None:
    """Train each system with each seed, score it, and print the table so far."""
    place = Path(tempfile.gettempdir()) / "syntagma-carried"
    if not place.is_dir():
        with tarfile.open(carry / ARCHIVE) as archive:
            archive.extractall(place, filter="data")
    os.environ["SYNTAGMA_ENCODER"] = str(place / "encoder")
    os.environ.setdefault("SYNTAGMA_CACHE", "/tmp/syntagma-cache")
    from syntagma.encoders.precision import best_device
    from syntagma.evaluation import evaluate, pack
    from syntagma.tasks.experiment import load_experiment
    from syntagma.training.run import train

    rows = []
    for seed in seeds:
        for system in systems:
            name = f"{system}-{seed}"
            folder = Path("/tmp/runs") / name
            settings = [
                f"data.train=[{place}/train-v1.1.json, {place}/made.json]",
                f"data.dev={place}/v2_fit.json",
                f"training.seed={seed}",
                *changes,
            ]
            begin = time.perf_counter()
            experiment = load_experiment(f"experiments/reader_{system}.yaml", settings)
            train(experiment, folder, resume=True)
            row = {"run": name, "seconds": round(time.perf_counter() - begin)}
            for part, path in (("1.1", "dev-v1.1.json"), ("2.0", "v2_held.json")):
                scores = evaluate(folder, [place / path], device=best_device())
                row |= {f"{part} {key}": scores[key] for key in ("exact", "f1")}
                (out / f"{name}.{part}.json").write_text(json.dumps(scores))
            if not (out / name).exists():
                pack(folder, out / name, bits=4)
            rows.append(row)
            print(json.dumps(row), flush=True)
    print("\n" + "  ".join(rows[0]))
    for row in rows:
        print("  ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("carry", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--set", dest="changes", action="append", default=[])
    given = parser.parse_args()
    if given.what == "prepare":
        prepare(given.carry)
    else:
        run(given.carry, given.out, seeds=given.seeds, systems=given.systems, changes=given.changes)


if __name__ == "__main__":
    main()
