"""Stored trees as a parse source: those of a treebank, or of an annotated corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from syntagma.checks import require_choice
from syntagma.encoders.default import sha256
from syntagma.errors import InputError
from syntagma.parse.sources.sentence_index import SentenceIndex
from syntagma.parse.sources.source import Mode
from syntagma.text.conllu import read_conllu
from syntagma.text.sentence import Parse, Sentence


class StoredSource:
    """Looks up the parses of texts, each of which must consist of stored sentences.

    The sentences of a text are found by their characters: whitespace may differ. Where the same
    sentence is stored several times, the one that follows the sentence found last is taken, else
    the first.

    Args:
        sentences: text of each sentence, and its parse with offsets in this text.
        name: what the sentences are stored in, for messages.
        fingerprint: changes whenever the parses may change.
        mode: ``words`` if texts are the sentences' words separated by spaces.
    """

    def __init__(
        self,
        sentences: Iterable[tuple[str, Parse]],
        *,
        name: str,
        fingerprint: str,
        mode: Mode = "raw",
    ) -> None:
        require_choice(mode, "mode", get_args(Mode))
        self.name = name
        self.fingerprint = f"{fingerprint}{'' if mode == 'raw' else f':{mode}'}"
        self.mode = mode
        self._index = SentenceIndex(
            map(_by_words, sentences) if mode == "words" else sentences, mode=mode
        )

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Look up the parses of each text's sentences.

        Args:
            texts: texts that consist of stored sentences.

        Raises:
            InputError: a sentence is not stored; names the first text that is missing.
        """
        last = -1
        for text in texts:
            numbers, missing = self._index.find(text, last)
            if missing is not None:
                part = " ".join(text[missing:].split())
                within = "" if missing == 0 else f", in the text that begins {text[:30]!r}"
                raise InputError(
                    f"{self.name}: no sentence with the text {part[:60]!r}{within}; name all files "
                    f"that have the sentences, or use a parser"
                )
            yield self._index.served(text, numbers)
            last = numbers[-1] if numbers else last


def _by_words(stored: tuple[str, Parse]) -> tuple[str, Parse]:
    """Give a sentence the text that consists of its words, separated by spaces."""
    _, parse = stored
    forms = parse.sentence.forms
    return " ".join(forms), replace(parse, sentence=Sentence.from_words(forms))


class TreebankSource(StoredSource):
    """Looks up parses in CoNLL-U files; each text must consist of sentences of these files.

    Args:
        paths: one file or several.
        mode: ``words`` if texts are the sentences' words separated by spaces.

    Raises:
        InputError: a file cannot be read, or a sentence is not a tree.
    """

    def __init__(self, paths: str | Path | Sequence[str | Path], *, mode: Mode = "raw") -> None:
        paths = [paths] if isinstance(paths, str | Path) else paths
        self.paths = paths
        super().__init__(
            ((rows.text, rows.parse()) for path in paths for rows in read_conllu(path)),
            name=", ".join(map(str, paths)),
            # Hashes, the same wherever the files are copied.
            fingerprint=f"conllu:{','.join(sha256(Path(path)) for path in paths)}",
            mode=mode,
        )


class CorpusSource(StoredSource):
    """Looks up parses in an annotated corpus, the output folder of ``syntagma annotate``.

    Args:
        folder: the folder; its sentences must be stored with their text.
        mode: ``words`` if texts are the sentences' words separated by spaces.

    Raises:
        InputError: the folder has no finished corpus, or one without text.
        DamagedFileError: a shard is missing or damaged.
    """

    def __init__(self, folder: str | Path, *, mode: Mode = "raw") -> None:
        # Not at the top: corpora are written with parse sources.
        from syntagma.parse.corpora.corpus import AnnotatedCorpus

        corpus = AnnotatedCorpus(folder)
        digest = hashlib.blake2b(digest_size=16)
        for entry in corpus.manifest.shards:
            digest.update(str(entry.checksum).encode())
        super().__init__(
            (
                (found.text, replace(parse, sentence=parse.sentence.shift(-parse.sentence.start)))
                for found in corpus.sentences()
                for parse in [found.parse]
            ),
            name=str(folder),
            fingerprint=f"parquet:{digest.hexdigest()}",
            mode=mode,
        )
