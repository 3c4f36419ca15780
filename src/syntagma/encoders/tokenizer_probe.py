"""Try a tokenizer on a text once it is loaded.

What is wrong with a tokenizer often shows only when it reads: an unknown token that its vocabulary
lacks, a normalisation that removes all letters, a template with ids that the encoder has no
embeddings for.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from syntagma.text.alignment import cut, is_panic
from syntagma.text.special_tokens import special_tokens

TEXT = "The 3 old mills (Ångström's)\tturn, 漢字 😀 \ue000 \U000f0000!\n" + "a" * 60 + " zy=:-_\n"
"""Letters, digits, marks, white space, characters that vocabularies lack, and a long word.

The word makes patterns with very many ways to match crash.
"""
_STDERR = 2
_lock = threading.Lock()


def problem_of(tokenizer: Any, sizes: Mapping[str, Any], *, is_own: bool) -> str:
    """Describe what keeps a tokenizer from being used; empty if nothing does.

    Args:
        tokenizer: a fast tokenizer.
        sizes: the configuration of its encoder, as far as it is known.
        is_own: whether the model was saved by this package.  Published encoders may have a few
            special pieces too many, which their own programs never use.

    Raises:
        InputError: it cannot read :data:`TEXT`.
    """
    (read,) = cut(tokenizer, [TEXT])
    if not (read.offsets[:, 0] < read.offsets[:, 1]).any():
        return "it makes no piece of a text"
    one = tokenizer("a", return_special_tokens_mask=True, return_token_type_ids=True)
    two = tokenizer("a", "b", return_token_type_ids=True)
    if 0 not in one.sequence_ids() or not {0, 1} <= {*two.sequence_ids()}:
        return "it makes no piece of the text 'a'"
    used = {*read.ids.tolist(), *one["input_ids"], *two["input_ids"], tokenizer.pad_token_id or 0}
    n_pieces = sizes.get("vocab_size")
    if isinstance(n_pieces, int):
        backend = tokenizer.backend_tokenizer
        every = backend.get_vocab(with_added_tokens=True)
        # Special tokens never come from a text, so only those of the template matter.
        unread = () if is_own else special_tokens(tokenizer).ids
        highest = max(used.union(set(every.values()).difference(unread)))
        if highest >= n_pieces:
            return (
                f"it has the id {highest}, but the encoder has embeddings for the ids 0 to "
                f"{n_pieces - 1}"
            )
    n_types = sizes.get("type_vocab_size")
    types = max([*one["token_type_ids"], *two["token_type_ids"]])
    # Encoders with no or one type are never given any.
    if isinstance(n_types, int) and n_types > 1 and types >= n_types:
        return (
            f"it has the token type {types}, but the encoder has embeddings for the types 0 to "
            f"{n_types - 1}"
        )
    return ""


@contextmanager
def without_panics() -> Iterator[None]:
    """Keep a crash inside ``tokenizers`` from printing to the user's terminal.

    Rust writes the place of the crash, and maybe a backtrace, to the file descriptor of standard
    error before the exception reaches Python.  What others write meanwhile is printed afterwards.
    """
    with _lock, tempfile.TemporaryFile() as held:
        try:
            terminal = os.dup(_STDERR)
        except OSError:  # A program without a console.
            yield
            return
        panicked = False
        os.dup2(held.fileno(), _STDERR)
        try:
            yield
        except BaseException as error:
            cause: BaseException | None = error
            while cause is not None and not panicked:
                panicked, cause = is_panic(cause), cause.__cause__
            raise
        finally:
            os.dup2(terminal, _STDERR)
            if not panicked:
                held.seek(0)
                while block := held.read(2**16):
                    os.write(terminal, block)
            os.close(terminal)
