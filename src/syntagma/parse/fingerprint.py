"""Fingerprints of parsers, which identify parse caches and annotated corpora.

The fingerprint of a saved parser is computed from its files.  So the parent process of an
annotation run can compute it without loading the weights, which only its workers need.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch

from syntagma.encoders.default import CONFIG, TOKENIZER, WEIGHTS
from syntagma.encoders.precision import Precision
from syntagma.parse.decode import DecodingMode
from syntagma.parse.encode import READING_VERSION
from syntagma.parse.head import ParserHead
from syntagma.parse.languages import Languages, files_in
from syntagma.parse.scorer import ParserModel
from syntagma.text.segmentation.segment import segmentation_fingerprint


def fingerprint_of_saved(
    folder: str | Path,
    *,
    max_words: int,
    decoding: DecodingMode,
    lang: str = "",
    precision: str = "",
) -> str:
    """Return the fingerprint of a parser that is saved in a folder, without loading it.

    Args:
        folder: the model folder.
        max_words: as for :class:`syntagma.parse.parser.JointParser`.
        decoding: as for :class:`syntagma.parse.parser.JointParser`.
        lang: the language of all texts, if one was chosen.
        precision: as :func:`asked_precision` returns it.
    """
    folder, digest = Path(folder), hashlib.blake2b(digest_size=16)
    # Without a tokenizer file, the parser uses the tokenizer of its base encoder.
    # The same goes for the segmentation: the rules for English are hashed below.
    own = [TOKENIZER] if (folder / TOKENIZER).is_file() else []
    for name in (CONFIG, WEIGHTS, *own, *files_in(folder)):
        with open(folder / name, "rb") as file:
            digest.update(hashlib.file_digest(file, "blake2b").digest())
    return _fingerprint(digest.digest(), max_words, decoding, lang, precision)


def fingerprint_of_model(
    model: ParserModel,
    languages: Languages,
    *,
    max_words: int,
    decoding: DecodingMode,
    lang: str = "",
    precision: str = "",
) -> str:
    """Return the fingerprint of a parser that exists in memory only.

    Args:
        model: the scoring model.
        languages: what cuts its text.
        max_words: as for :class:`syntagma.parse.parser.JointParser`.
        decoding: as for :class:`syntagma.parse.parser.JointParser`.
        lang: as for :func:`fingerprint_of_saved`.
        precision: as for :func:`fingerprint_of_saved`.
    """
    digest = hashlib.blake2b(digest_size=16)
    for name, weight in sorted(model.state_dict().items()):
        digest.update(name.encode())
        # As bytes: NumPy has no bfloat16.
        digest.update(weight.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
    digest.update(languages.fingerprint.encode())
    return _fingerprint(digest.digest(), max_words, decoding, lang, precision)


def asked_precision(
    head: ParserHead, precision: Precision | None, dtype: torch.dtype = torch.float32
) -> str:
    """Return the precision that was asked for, if it is not the parser's own; otherwise ``""``.

    Parses in another precision may differ.  A parser's own is not part of its fingerprint, so that
    caches and corpora from before precisions were part of it stay valid.

    Args:
        head: settings of the parser.
        precision: as for :class:`syntagma.parse.parser.JointParser`.
        dtype: of the weights, which the option ``dtype`` may have rounded.
    """
    asked = [] if precision in (None, head.precision) else [str(precision)]
    if dtype != torch.float32:
        asked.append(f"dtype={str(dtype).removeprefix('torch.')}")
    return ":".join(asked)


def _fingerprint(
    weights: bytes, max_words: int, decoding: DecodingMode, lang: str, precision: str
) -> str:
    digest = hashlib.blake2b(weights, digest_size=16)
    digest.update(f"{segmentation_fingerprint()}:{READING_VERSION}".encode())
    jointly = ":joint" if decoding == "joint" else ""
    chosen = f":{lang}" if lang else ""
    # A code of a language has two or three letters, so no precision can be taken for one.
    asked = f":{precision}" if precision else ""
    return f"parser:{digest.hexdigest()}:{max_words}{jointly}{chosen}{asked}"
