"""The command that indexes documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from syntagma.cli.app import Device, JsonFile, app, examples, folder_place, write_json_file
from syntagma.cli.console import note, show, warn
from syntagma.encoders.default import require_encoder
from syntagma.errors import InputError

Out = Annotated[
    Path,
    typer.Option(
        callback=folder_place,
        help="Folder of the index: new, or an index to bring up to date.",
    ),
]


@app.command(
    epilog=examples(
        "syntagma index reports --out reports.index",
        "syntagma index reports letters/2024 manual.pdf --out office.index",
        "syntagma index archive --out archive.index --encoder none",
    )
)
def index(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Files and folders of documents: text, Markdown, HTML, docx, pdf.",
            show_default=False,
        ),
    ],
    out: Out,
    encoder: Annotated[
        str,
        typer.Option(
            help="Sentence encoder of the search by meaning: default, accurate, a folder, or a hub "
            "name; none to search by keywords alone."
        ),
    ] = "default",
    language: Annotated[
        str, typer.Option(help="Language of the documents: english; none for any other.")
    ] = "english",
    json_file: JsonFile = None,
    device: Device = "cpu",
) -> None:
    """Index documents, to answer questions from them.

    Run it again to bring the index up to date: only new and changed documents are read. The index
    then holds what the sources hold, and nothing else. An interrupted run is continued by the next.
    """
    if encoder != "none":
        require_encoder(encoder)
    elif device != "cpu":
        raise InputError("--device has no effect with --encoder none; omit one of the two")
    from syntagma.tasks.open_qa.documents import Index

    found = Index.build(
        sources,
        out,
        encoder=encoder,
        language=language,
        on_problem=warn,
        progress=True,
        device=device,
    )
    report = found.report
    assert report is not None
    changes = [f"{report.n_read} read"]
    changes += [f"{report.n_removed} removed"] if report.n_removed else []
    changes += [f"{report.n_problems} could not be read"] if report.n_problems else []
    show(
        f"{len(found)} passages of {report.n_documents} documents ({', '.join(changes)}) in "
        f"{report.seconds:.1f} s"
    )
    write_json_file(json_file, report.to_dict())
    note(f"→ {out}")
