"""Fingerprints of parsers, which identify parse caches and annotated corpora.

The fingerprint of a saved parser is computed from its files.  So the parent process of an
annotation run can compute it without loading the weights, which only its workers need.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from syntagma.encoders.default import CONFIG, TOKENIZER, WEIGHTS
from syntagma.parse.decode import DecodingMode
from syntagma.parse.encode import READING_VERSION
from syntagma.parse.scorer import ParserModel
from syntagma.text.segmentation.saved import SEGMENTATION
from syntagma.text.segmentation.segment import segmentation_fingerprint
from syntagma.text.segmentation.segmenter import Segmenter


def fingerprint_of_saved(folder: str | Path, *, max_words: int, decoding: DecodingMode) -> str:
    """Return the fingerprint of a parser that is saved in a folder, without loading it.

    Args:
        folder: the model folder.
        max_words: as for :class:`syntagma.parse.parser.JointParser`.
        decoding: as for :class:`syntagma.parse.parser.JointParser`.
    """
    folder, digest = Path(folder), hashlib.blake2b(digest_size=16)
    # Without a tokenizer file, the parser uses the tokenizer of its base encoder.
    # The same goes for the segmentation: the rules for English are hashed below.
    own = [name for name in (TOKENIZER, SEGMENTATION) if (folder / name).is_file()]
    for name in (CONFIG, WEIGHTS, *own):
        with open(folder / name, "rb") as file:
            digest.update(hashlib.file_digest(file, "blake2b").digest())
    return _fingerprint(digest.digest(), max_words, decoding)


def fingerprint_of_model(
    model: ParserModel, segmenter: Segmenter | None, *, max_words: int, decoding: DecodingMode
) -> str:
    """Return the fingerprint of a parser that exists in memory only.

    Args:
        model: the scoring model.
        segmenter: what cuts its text; the rules for English if not given.
        max_words: as for :class:`syntagma.parse.parser.JointParser`.
        decoding: as for :class:`syntagma.parse.parser.JointParser`.
    """
    digest = hashlib.blake2b(digest_size=16)
    for name, weight in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().numpy().tobytes())
    if segmenter is not None:
        digest.update(segmenter.fingerprint.encode())
    return _fingerprint(digest.digest(), max_words, decoding)


def _fingerprint(weights: bytes, max_words: int, decoding: DecodingMode) -> str:
    digest = hashlib.blake2b(weights, digest_size=16)
    digest.update(f"{segmentation_fingerprint()}:{READING_VERSION}".encode())
    jointly = ":joint" if decoding == "joint" else ""
    return f"parser:{digest.hexdigest()}:{max_words}{jointly}"
