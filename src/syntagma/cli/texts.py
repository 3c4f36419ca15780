"""Commands on text: parse, annotate, attention."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from syntagma.cli.app import (
    Device,
    Imports,
    JsonFile,
    SkipBad,
    app,
    choices,
    examples,
    file_place,
    folder_place,
    given_options,
    print_utf8,
    refuse,
    require_no_file,
    show_metrics,
    write_json_file,
)
from syntagma.cli.console import note, show
from syntagma.encoders.default import DEFAULT_PARSER, require_encoder
from syntagma.encoders.named_models import names_of
from syntagma.errors import InputError
from syntagma.files import require_once
from syntagma.text.limits import MAX_WORDS

TextPrecision = Annotated[
    str,
    typer.Option(
        help="float32, bfloat16, int8 (on CPUs), or auto (bfloat16 if that is faster). Default: "
        "float32, but int8 for fast-parser."
    ),
]


InputFormat = Annotated[
    str,
    typer.Option(
        "--from",
        help="Input format: text, lines (one sentence per line), words (the same, with words "
        "separated by spaces), conllu, or parquet (output of annotate).",
        autocompletion=choices("text", "lines", "words", "conllu", "parquet"),
    ),
]
OutputFormat = Annotated[
    str,
    typer.Option(
        help="Output format: conllu, json, brackets, or svg.",
        autocompletion=choices("conllu", "json", "brackets", "svg"),
    ),
]
TextLanguage = Annotated[
    str,
    typer.Option(
        help="Language of the text, such as fr, for a parser of several. Default: detected for "
        "each file, and reported."
    ),
]
TextTokenizer = Annotated[
    str,
    typer.Option(
        help="Cut the text into sentences and words by another tokenizer: spacy:NAME (a "
        "pipeline or a language, as in spacy:fr), stanza:LANGUAGE, or whitespace. Default: as "
        "the parser's treebank does."
    ),
]
Decoding = Annotated[
    str | None,
    typer.Option(
        help="dependencies, separate (phrases too), or joint (the best tree of both kinds at "
        "once). Default: dependencies, or separate with --to brackets.",
        autocompletion=choices("dependencies", "separate", "joint"),
    ),
]


@app.command(
    epilog=examples(
        "syntagma parse news.txt > news.conllu",
        "syntagma parse --from conllu treebank.conllu --to json",
        "syntagma parse news.txt --to svg --decoding joint > trees.svg",
        "syntagma parse news.txt --parser spacy:en_core_web_sm",
        "syntagma parse nouvelles.txt --parser runs/french --tokenizer spacy:fr",
        "echo 'Nobody slept.' | syntagma parse",
    )
)
def parse(
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to parse. Default, and -: standard input.")
    ] = None,
    source: InputFormat = "text",
    to: OutputFormat = "conllu",
    decoding: Decoding = None,
    pretokenized: Annotated[
        bool, typer.Option("--pretokenized", help="Same as --from words.")
    ] = False,
    parser: Annotated[
        str,
        typer.Option(
            help="Parser: a name or folder, or another parse source, such as spacy:NAME or one of "
            "a plug-in.",
            autocompletion=choices(*names_of("parser")),
        ),
    ] = DEFAULT_PARSER,
    max_words: Annotated[
        int, typer.Option(help="Parse longer sentences in parts of at most this many words.")
    ] = MAX_WORDS,
    precision: TextPrecision = "",
    lang: TextLanguage = "",
    tokenizer: TextTokenizer = "",
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Parse text; print CoNLL-U, JSON, brackets or a picture."""
    print_utf8(even_to_terminal=True)
    require_once(files or ())
    if pretokenized and source not in ("text", "words"):
        raise InputError(
            f"--pretokenized means --from words, which contradicts --from {source}; omit one of "
            f"the two"
        )
    given = {
        "--decoding": decoding is not None,
        "--max-words": max_words != MAX_WORDS,
        "--precision": bool(precision),
        "--lang": bool(lang),
        "--tokenizer": bool(tokenizer),
    }
    if source == "parquet":
        if not files:
            raise InputError("--from parquet: expected folders of annotated corpora, got none")
        given |= {"--parser": parser != DEFAULT_PARSER, "--device": device != "cpu"}
        refuse(given, "has no effect with --from parquet, which prints stored parses; omit it")
        from syntagma.cli.annotation import write_corpora

        write_corpora(files or [], to=to, out=sys.stdout)
        return
    _check_cutting(lang, tokenizer, "words" if pretokenized else source)
    require_encoder(parser)
    from syntagma.cli.printing import write_parses
    from syntagma.parse.sources.load import find_parser, load_parser, load_source
    from syntagma.parse.sources.tokenizers import TokenizedSource, find_tokenizer

    where: dict[str, Any] = {
        "kind": "words" if pretokenized else source,
        "to": to,
        "out": sys.stdout,
    }
    ref, named = find_parser(parser)
    if named and lang:
        raise InputError(
            f"--lang {lang}: --parser {parser} names the language; omit one of the two"
        )
    if ref is None:
        other = load_source(parser, device=device, kept=False)
        refuse(given, f"has no effect on --parser {parser}, which is no parser of ours; omit it")
        write_parses(files or ["-"], other, **where)
        return
    how = decoding or ("separate" if to == "brackets" else "dependencies")
    # Before the parser, which takes longer to load.
    cut_by = find_tokenizer(tokenizer) if tokenizer else None
    own = load_parser(
        ref,
        device=device,
        max_words=max_words,
        precision=precision or None,
        decoding=how,
        lang=lang or named,
    )
    write_parses(files or ["-"], own if cut_by is None else TokenizedSource(own, cut_by), **where)


def _check_cutting(lang: str, tokenizer: str, source: str) -> None:
    """Check the options that say how text is segmented.

    Raises:
        InputError: they contradict each other, or the words are given.
    """
    if lang and tokenizer:
        raise InputError(
            "--lang chooses how the parser segments text, and --tokenizer does it in its place; "
            "omit one of the two"
        )
    if tokenizer and source != "text":
        raise InputError(
            f"--tokenizer segments running text, but with --from {source} the words are given; "
            "omit one of the two"
        )


@app.command(
    epilog=examples(
        "syntagma annotate 'news/*.txt.gz' --out news.parsed --workers 16",
        "syntagma annotate 'news/*.txt.gz' --out news.parsed --workers 16 --resume",
        "syntagma annotate --check news.parsed",
    )
)
def annotate(
    ctx: typer.Context,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help="Files (plain or .gz), quoted patterns, or - for standard input."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(callback=folder_place, help="Folder to write.")
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            "--from",
            help="Input format: text (one document per line), lines (one sentence per line), words "
            "(the same, with words separated by spaces), jsonl, conllu, or the name of a task. "
            "Default: by the suffix of the files.",
        ),
    ] = "",
    field: Annotated[str, typer.Option(help="Field of JSON objects that has the text.")] = "text",
    parser: Annotated[str, typer.Option(help="Parse source.")] = DEFAULT_PARSER,
    precision: TextPrecision = "",
    workers: Annotated[
        int | None, typer.Option(help="Number of processes. Default: one per core or GPU.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run in its folder.")
    ] = False,
    text: Annotated[bool, typer.Option(help="Whether to store the text of sentences.")] = True,
    confidence: Annotated[
        bool, typer.Option(help="Whether to store the probabilities of arcs.")
    ] = False,
    shard_characters: Annotated[
        int, typer.Option(help="Characters of text per shard.")
    ] = 2_000_000,
    engine: Annotated[str, typer.Option(help="local, or ray to use a Ray cluster.")] = "local",
    check: Annotated[
        list[Path] | None,
        typer.Option(help="Verify this finished folder against its manifest; repeatable."),
    ] = None,
    skip_bad: SkipBad = False,
    json_file: JsonFile = None,
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Parse a corpus into Parquet files, or verify them."""
    if check:
        from syntagma.cli.annotation import check_corpora

        apart = ("inputs", "check", "json_file", "imports", "quiet", "verbose")
        given = dict.fromkeys(inputs or (), True) | given_options(ctx, besides=apart)
        refuse(given, "has no effect with --check FOLDER, which annotates nothing; omit it")
        n_sentences = check_corpora(check)
        show(f"{n_sentences} sentences verified")
        write_json_file(json_file, {"sentences": n_sentences})
        return
    require_encoder(parser)
    from syntagma.outputs import require_apart
    from syntagma.parse.corpora.annotator import AnnotationSettings
    from syntagma.parse.corpora.records import expand_paths
    from syntagma.tasks.annotation import annotate_files

    if not inputs or out is None:
        raise InputError("expected INPUT… and --out DIR, or --check DIR")
    require_once(inputs)
    require_apart(json_file, expand_paths(inputs))
    choices: dict[str, Any] = {"precision": precision or None}
    settings = AnnotationSettings(
        kind=source,
        field=field,
        parser=parser,
        text=text,
        confidence=confidence,
        shard_characters=shard_characters,
        skip_bad=skip_bad,
        **choices,
    )
    where: dict[str, Any] = {"engine": engine}
    manifest = annotate_files(
        inputs, out, settings, workers=workers, device=device, resume=resume, **where
    )
    show_metrics(asdict(manifest.counts))
    write_json_file(json_file, asdict(manifest.counts))
    note(f"→ {out}")


@app.command(
    epilog=examples(
        "syntagma attention default-reader --passage FILE --question 'Who …?' --out attention.svg",
        "syntagma attention runs/squad_plain --beside runs/squad_sg-net --passage FILE "
        "--question 'Who …?' --out attention.svg --show answer",
        "syntagma attention runs/race_poi-net --passage FILE --question 'Who …?' "
        "--options 'A | B' --out turns.svg --turns",
    )
)
def attention(
    model: Annotated[str, typer.Argument(help="Folder of a model or run, or a model that ships.")],
    passage: Annotated[
        str,
        typer.Option(help="Text file, or - for standard input; the first text of a pair."),
    ],
    question: Annotated[str, typer.Option(help="Question, or the second text of a pair.")],
    out: Annotated[
        Path, typer.Option(callback=file_place, help="Picture to write, .svg; - for stdout.")
    ],
    beside: Annotated[
        str | None, typer.Option(help="Another model, to draw next to the first.")
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option(help="Options for a model of the task choice: 'A | B | C'.")
    ] = None,
    layer: Annotated[
        str,
        typer.Option(
            help="Number of the layer, from 1, or guided. Default: the last one of each model."
        ),
    ] = "",
    head: Annotated[
        int | None, typer.Option(help="Number of the head, from 1. Default: mean over all heads.")
    ] = None,
    show: Annotated[
        str,
        typer.Option(
            help="Words to show: question, answer (the sentence with the answer), both, all, or "
            "the number of a sentence."
        ),
    ] = "question",
    turns: Annotated[
        bool,
        typer.Option(
            "--turns", help="Draw the co-attention scores of each turn instead of attention."
        ),
    ] = False,
    device: Device = "cpu",
    imports: Imports = None,
) -> None:
    """Draw the attention between words as a vector picture."""
    for text in (question, *(options or [])):
        require_no_file(text, "a text", "write the question and the options themselves")
    models = [model, *([beside] if beside else [])]
    for name in models:
        require_encoder(name)
    from syntagma.analysis.attention.draw import draw_attention, draw_turns

    given: dict[str, Any] = {"out": out, "options": options or (), "device": device}
    if turns:
        if layer or head is not None or show != "question":
            raise InputError(
                "--turns draws scores of all words, which have no layers or heads; omit --layer, "
                "--head and --show"
            )
        titles = draw_turns(models, passage, question, **given)
    else:
        given |= {"layer": layer, "head": head, "show": show}
        titles = draw_attention(models, passage, question, **given)
    for title in titles:
        note(title)
    note(f"→ {out}")
