"""The command that exports a model for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from syntagma.cli.app import (
    Imports,
    JsonFile,
    ModelTask,
    OtherParser,
    SkipBad,
    app,
    examples,
    folder_place,
    write_json_file,
)
from syntagma.cli.console import show
from syntagma.cli.models import Model
from syntagma.encoders.default import require_encoder


@app.command(
    epilog=examples(
        "syntagma export default-reader --to onnx --out reader",
        "syntagma export default-parser --to onnx --int8 --out parser",
        "syntagma export runs/nli_sg-net --to onnx --out nli --check dev.jsonl",
    )
)
def export(
    model: Model,
    out: Annotated[Path, typer.Option(callback=folder_place, help="Folder to write.")],
    to: Annotated[str, typer.Option(help="Format: onnx.")] = "onnx",
    int8: Annotated[
        bool, typer.Option("--int8", help="Store weights in 8 bits: a quarter of the size.")
    ] = False,
    check: Annotated[
        list[str] | None,
        typer.Option(
            help="Data file of the model's task: export and model are compared on its first 500 "
            "examples; repeatable. Default: passages that come with Syntagma."
        ),
    ] = None,
    phrases: Annotated[
        bool, typer.Option("--phrases", help="For parsers: export the scores of phrases too.")
    ] = False,
    task: ModelTask = "",
    parser: OtherParser = "",
    skip_bad: SkipBad = False,
    json_file: JsonFile = None,
    imports: Imports = None,
) -> None:
    """Export a model for programs without Python or torch.

    The folder has the graph, the tokenizer, all settings that decoding needs, and a README. The
    export is compared with the model, and nothing is written if the two differ.
    """
    from syntagma.export.onnx_file import require_extra
    from syntagma.outputs import require_absent

    require_absent(out)
    require_extra()
    require_encoder(model)
    from syntagma.export.folder import export as run

    found = run(
        model,
        out,
        to=to,
        int8=int8,
        check=check or (),
        task=task,
        parser=parser,
        phrases=phrases,
        skip_bad=skip_bad,
    )
    for line in found.parity.lines():
        show(line)
    show(f"{found.size / 1e6:.1f} MB → {out}")
    write_json_file(json_file, found.to_dict())
