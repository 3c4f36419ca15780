"""A parser without training: a dozen rules on function words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from syntagma import InputError, Parse, Sentence, segment

RULES = {
    "det": "a an the this that these those my your his her its our their no every some any",
    "case": "in on at by for with from to of about into over under after before between",
    "aux": "is are was were be been has have had do does did will would can could may might must",
    "mark": "because if although while when since",
    "cc": "and or but nor",
    "advmod": "not n't never very too so",
}
RELATION = {word: relation for relation, words in RULES.items() for word in words.split()}


class FunctionWordParser:
    """Attaches a function word to the next content word, and content words to the first one.

    It knows no grammar, so it shows what a model gains from any tree at all.

    Args:
        argument: none.
        device: ignored: it computes nothing.
        mode: ``raw`` for running text, ``words`` for words separated by spaces.
    """

    def __init__(
        self, argument: str = "", *, device: str = "cpu", mode: Literal["raw", "words"] = "raw"
    ) -> None:
        if argument:
            raise InputError(f"parser function-words: takes no argument, got {argument!r}")
        self.mode = mode
        # Parses are kept in a cache under this name: a change of the rules needs a new one.
        self.fingerprint = f"function-words:1:{mode}"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        """Yield the parses of each text's sentences."""
        for text in texts:
            yield [self._parse(sentence) for sentence in segment(text, mode=self.mode)]

    def _parse(self, sentence: Sentence) -> Parse:
        relations = [_relation(form) for form in sentence.forms]
        content = [place for place, found in enumerate(relations) if found == "dep"] or [0]
        root = content[0]
        heads = []
        for place, found in enumerate(relations):
            following = next((each for each in content if each > place), root)
            head = root if found in ("dep", "punct") else following
            heads.append(0 if place == root else head + 1)
        relations[root] = "root"
        return Parse(sentence, tuple(heads), tuple(relations))


def _relation(form: str) -> str:
    if not any(character.isalnum() for character in form):
        return "punct"
    return RELATION.get(form.lower(), "dep")
