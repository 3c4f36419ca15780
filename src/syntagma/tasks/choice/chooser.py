"""A chooser: give it a passage, a question and options, get the probability of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor

from syntagma.batches import padded_length, token_budget_batches
from syntagma.checks import checked_rows, require_several, require_string, require_text
from syntagma.encoders.precision import autocast
from syntagma.errors import InputError
from syntagma.models.choice_model import ChoiceModel
from syntagma.syntax.encode import EncodedText, concatenate
from syntagma.syntax.sequences import Part
from syntagma.tasks.layout import Layout, TextPair, lay_out_parts
from syntagma.tasks.predictor import TextPredictor

CHUNK = 256
"""Questions that are read together."""

BLANK = "_"


class Choice(NamedTuple):
    """The answer to a question with options.

    Args:
        chosen: number of the best option, from 0.
        option: the option itself.
        probabilities: of all options.
        truncated: whether a text lost its end in at least one sequence.
    """

    chosen: int
    option: str
    probabilities: tuple[float, ...]
    truncated: bool


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceItem:
    """A question as sequences, one an option.

    Args:
        sequences: the two parts of each.
        borders: where in its part the second of two texts begins, of each sequence; 0 where no part
            holds two.
        length: pieces of the longest, special ones included.
        truncated: whether a text lost its end.
        answer: position of the right option, negative if it is not known.
    """

    sequences: list[tuple[Part, Part]]
    borders: list[int]
    length: int
    truncated: bool
    answer: int = -1

    def __len__(self) -> int:
        """Pieces of all sequences, padded to the longest."""
        return padded_length(self.length) * len(self.sequences)


class Chooser(TextPredictor[ChoiceModel]):
    """Chooses among options, each read together with passage and question."""

    model_class = ChoiceModel
    task = "choice"

    def choose(self, passage: str, question: str, options: Sequence[str]) -> Choice:
        """The answer to one question.

        Args:
            passage: any text.
            question: any question about it.
            options: at least two.

        Raises:
            InputError: the passage is empty, or there are not two options.
        """
        return next(self.stream([(passage, question, options)]))

    def stream(self, questions: Iterable[tuple[str, str, Sequence[str]]]) -> Iterator[Choice]:
        """Answer (passage, question, options) as they come, many at a time, in constant memory.

        Raises:
            InputError: one is something else, or cannot be answered, see :meth:`choose`.
        """
        source = checked_rows(questions, "passage", "question", "options", called="question")
        while chunk := list(islice(source, CHUNK)):
            items = self.items(chunk)
            scores = self._score(items)
            for (_, _, options), item, score in zip(chunk, items, scores, strict=True):
                probabilities = score.softmax(-1).tolist()
                chosen = int(score.argmax())
                yield Choice(chosen, options[chosen], tuple(probabilities), item.truncated)
            self.texts.forget()

    def items(self, questions: Sequence[tuple[str, str, Sequence[str]]]) -> list[ChoiceItem]:
        """Questions as sequences; each text is parsed and cut into pieces once."""
        self.texts.check_length(self.model.head.max_length)
        rows = []
        for passage, question, options in questions:
            require_text(passage, "passage")
            require_string(question, "question")
            require_several(options, "options")
            for option in options:
                require_string(option, "option")
            if len(options) < 2:
                raise InputError(f"expected at least two options, got {len(options)}")
            rows.append([self._placed(self.asked(question, option)) for option in options])
        passages = self.texts.encode([passage for passage, _, _ in questions])
        wanted = dict.fromkeys(key for options in rows for row in options for key in row)
        asked = {
            (text, spaced): encoded
            for spaced in (False, True)
            for text, encoded in self.texts.encode(
                [text for text, is_spaced in wanted if is_spaced is spaced], spaced=spaced
            ).items()
        }
        return [
            self._item(passages[passage], [[asked[key] for key in row] for row in options])
            for (passage, _, _), options in zip(questions, rows, strict=True)
        ]

    def asked(self, question: str, option: str) -> tuple[str, ...]:
        """Question and option as the texts that are read, one after the other."""
        question, option = question.strip(), option.strip()
        if self.model.head.fill_blank and BLANK in question:
            return (question.replace(BLANK, option, 1),)
        return tuple(text for text in (question, option) if text)

    def _placed(self, texts: tuple[str, ...]) -> list[tuple[str, bool]]:
        """Each text, and whether it stands behind another one in its part, after a space."""
        behind = 1 if self.model.head.layout == "passage|question+option" else 0
        return [(text, len(texts) > 1 and place == behind) for place, text in enumerate(texts)]

    def _item(self, passage: EncodedText, options: list[list[EncodedText]]) -> ChoiceItem:
        """The sequences of one question; the passage loses what does not fit.

        Only where question and option alone would fill more than three quarters of a sequence, and
        leave no room for the passage, do they lose their end too.
        """
        room = self.model.head.max_length - self.texts.builder.n_special(2)
        with_option = self.model.head.layout == "passage|question+option"
        sequences, borders, truncated, longest = [], [], False, 0
        for texts in options:
            n_asked = sum(map(len, texts))
            most = room - min(len(passage), room // 4)
            if len(texts) > 1 and n_asked > most:
                # The question loses its end first: options without theirs cannot be told apart.
                kept = max(most - len(texts[1]), most // 4)
                texts = [texts[0].part(0, min(kept, len(texts[0]))), texts[1]]
            whole = concatenate(texts) if texts else passage.part(0, 0)
            asked = whole.part(0, min(len(whole), most))
            taken = min(len(passage), room - len(asked))
            truncated |= taken < len(passage) or len(asked) < n_asked
            first, second = passage.part(0, taken), asked
            border = min(len(texts[0]), len(asked)) if len(texts) > 1 else 0
            if not with_option and len(texts) > 1:
                first = concatenate([first, texts[0].part(0, border)])
                second = texts[1].part(0, max(0, len(asked) - len(texts[0])))
                border = taken
            sequences.append((Part(first, 0, len(first)), Part(second, 0, len(second))))
            borders.append(border)
            longest = max(longest, taken + len(asked))
        length = longest + self.texts.builder.n_special(2)
        return ChoiceItem(sequences, borders, length, truncated)

    def lay_out(self, texts: TextPair) -> Layout:
        """The sequence in which one of the options is read."""
        if not 0 <= texts.option < len(texts.options):
            n_options = len(texts.options)
            raise InputError(f"expected an option from 1 to {n_options}, got {texts.option + 1}")
        item = self.items([(texts.first, texts.second, texts.options)])[0]
        asked = self.asked(texts.second, texts.options[texts.option])
        names = ("question", "option") if len(asked) > 1 else ("question with option",)
        passage, others = ("passage", texts.first), list(zip(names, asked, strict=True))
        contents = [[passage], others]
        if len(asked) > 1 and self.model.head.layout == "passage+question|option":
            contents = [[passage, others[0]], [others[1]]]
        parts, border = item.sequences[texts.option], item.borders[texts.option]
        found = lay_out_parts(self.texts.builder, parts, contents, border=border)
        return found._replace(batch=self.on_device(found.batch))

    def collate(self, items: Sequence[ChoiceItem]) -> dict[str, Tensor]:
        """A padded batch, the sequences of all questions one after another."""
        batch = self.texts.builder.collate([pair for item in items for pair in item.sequences])
        batch["n_options"] = torch.tensor([len(item.sequences) for item in items])
        if all(item.answer >= 0 for item in items):
            batch["answers"] = torch.tensor([item.answer for item in items])
        return batch

    @torch.inference_mode()
    def _score(self, items: Sequence[ChoiceItem]) -> list[Tensor]:
        """The scores of the options of each question, in order."""
        scores: dict[int, Tensor] = {}
        for batch in token_budget_batches([len(item) for item in items], self.batch_tokens):
            tensors = self.on_device(self.collate([items[index] for index in batch]))
            tensors.pop("answers", None)
            with autocast(self.model.device, self.precision):
                found = self.model(**tensors).options.cpu()
            for index, row in zip(batch.tolist(), found, strict=True):
                scores[index] = row[: len(items[index].sequences)]
        return [scores[index] for index in range(len(items))]
