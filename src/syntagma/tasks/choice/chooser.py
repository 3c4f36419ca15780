"""Choose among the options of a question about a passage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from syntagma.batches import padded_length, token_budget_batches
from syntagma.checks import checked_rows, require_several, require_string, require_text
from syntagma.encoders.precision import autocast
from syntagma.errors import InputError
from syntagma.models.choice_model import ChoiceModel
from syntagma.progress import chunks, steps
from syntagma.reprs import brief, quoted
from syntagma.syntax.encode import EncodedText, concatenate
from syntagma.syntax.sequences import Part
from syntagma.tasks.layout import Layout, TextPair, lay_out_parts
from syntagma.tasks.predictor import OneOrMany, TextPredictor

CHUNK = 256
"""Number of questions that are encoded and batched together."""

BLANK = "_"
"""What cloze questions of RACE have in place of the missing words."""


def has_blank(question: str) -> bool:
    """Whether a question is a cloze question."""
    return BLANK in question


def fill_blank(question: str, option: str) -> str:
    """Return the sentence that a cloze question becomes with an option in its first blank.

    >>> fill_blank("The _ cried.", "gull ")
    'The gull cried.'
    """
    return question.strip().replace(BLANK, option.strip(), 1)


class Choice(NamedTuple):
    """The answer to a multiple-choice question.

    Args:
        chosen: index of the best option.
        option: text of the best option.
        probabilities: probability of each option.
        truncated: whether a text was truncated in at least one sequence.
    """

    chosen: int
    option: str
    probabilities: tuple[float, ...]
    truncated: bool

    def __repr__(self) -> str:
        return brief(
            self, quoted(self.option), f"probability {self.probabilities[self.chosen]:.2f}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceItem:
    """A question as one sequence per option.

    Args:
        sequences: the two parts of each sequence.
        borders: for each sequence, where the second text begins in the part that holds two; 0 if
            no part does.
        length: number of pieces in the longest sequence, special pieces included.
        truncated: whether a text was truncated.
        answer: index of the right option; negative if unlabelled.
    """

    sequences: list[tuple[Part, Part]]
    borders: list[int]
    length: int
    truncated: bool
    answer: int = -1

    def __len__(self) -> int:
        """Return the number of pieces in all sequences, each padded to the longest."""
        return padded_length(self.length) * len(self.sequences)


class Chooser(OneOrMany, TextPredictor[ChoiceModel]):
    """Chooses among options, reading each together with passage and question.

    Threads may share it, see :class:`syntagma.tasks.predictor.TextPredictor`.
    """

    model_class = ChoiceModel
    task = "choice"
    inputs = ("passage", "question", "options")

    def choose(self, passage: str, question: str, options: Sequence[str]) -> Choice:
        """Answer one question.

        Args:
            passage: any text.
            question: a question about the passage; may be empty.
            options: at least two options.

        Raises:
            InputError: the passage is empty, or there are fewer than two options.
        """
        return next(self.stream([(passage, question, options)]))

    def stream(self, questions: Iterable[tuple[str, str, Sequence[str]]]) -> Iterator[Choice]:
        """Lazily answer (passage, question, options) triples in batches, in constant memory.

        Raises:
            InputError: an item is not such a triple, or :meth:`choose` would reject it.
        """
        source = checked_rows(questions, "passage", "question", "options", called="question")
        for chunk in chunks(source, CHUNK):
            items = self.items(chunk)
            scores = self._score(items)
            for (_, _, options), item, score in zip(chunk, items, scores, strict=True):
                probabilities = score.softmax(-1).tolist()
                chosen = int(score.argmax())
                yield Choice(chosen, options[chosen], tuple(probabilities), item.truncated)
            self.texts.forget()

    def items(self, questions: Sequence[tuple[str, str, Sequence[str]]]) -> list[ChoiceItem]:
        """Encode questions as sequences; each distinct text is parsed and tokenised once.

        Args:
            questions: (passage, question, options) triples.

        Returns:
            An unlabelled item for each question, in order, with a sequence for each option.

        Raises:
            InputError: :meth:`choose` would reject a question, or the encoder cannot read sequences
                of ``head.max_length``.
        """
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
            rows.append(
                [self._with_spacing(self.question_texts(question, option)) for option in options]
            )
        passages = self.texts.encode([passage for passage, _, _ in questions])
        # Texts that follow a space are tokenised differently, so the two kinds are encoded apart.
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

    def question_texts(self, question: str, option: str) -> tuple[str, ...]:
        """Return the texts to read for a question and an option; one if a blank is filled."""
        if self.model.head.fill_blank and has_blank(question):
            return (fill_blank(question, option),)
        question, option = question.strip(), option.strip()
        return tuple(text for text in (question, option) if text)

    def _with_spacing(self, texts: tuple[str, ...]) -> list[tuple[str, bool]]:
        """Pair each text with whether it follows another text in its part, after a space."""
        # With the question in the passage's part, it follows the passage, and the option nothing.
        second = 0 if self.model.head.layout == "passage+question|option" else 1
        return [(text, len(texts) > 1 and number == second) for number, text in enumerate(texts)]

    def _item(self, passage: EncodedText, options: list[list[EncodedText]]) -> ChoiceItem:
        """Build the sequences of one question, truncating the passage to fit.

        Question and option are truncated only if they alone would fill more than three quarters of
        a sequence and leave no room for the passage.
        """
        room = self.model.head.max_length - self.texts.builder.n_special(2)
        layout = self.model.head.layout
        sequences, borders, truncated, longest = [], [], False, 0
        for texts in options:
            n_asked = sum(map(len, texts))
            most = room - min(len(passage), room // 4)
            if len(texts) > 1 and n_asked > most:
                # The question is truncated first, since truncated options may all look the same.
                kept = max(most - len(texts[1]), most // 4)
                texts = [texts[0].part(0, min(kept, len(texts[0]))), texts[1]]
            whole = concatenate(texts) if texts else passage.part(0, 0)
            asked = whole.part(0, min(len(whole), most))
            taken = min(len(passage), room - len(asked))
            truncated |= taken < len(passage) or len(asked) < n_asked
            first, second = passage.part(0, taken), asked
            border = min(len(texts[0]), len(asked)) if len(texts) > 1 else 0
            if layout == "passage+question|option" and len(texts) > 1:
                first = concatenate([first, texts[0].part(0, border)])
                second = texts[1].part(0, max(0, len(asked) - len(texts[0])))
                border = taken
            elif layout == "question+option|passage":
                first, second = second, first
            sequences.append((Part(first, 0, len(first)), Part(second, 0, len(second))))
            borders.append(border)
            longest = max(longest, taken + len(asked))
        length = longest + self.texts.builder.n_special(2)
        return ChoiceItem(sequences, borders, length, truncated)

    def lay_out(self, texts: TextPair) -> Layout:
        """Lay out the sequence of one option, see :meth:`TextPredictor.lay_out`."""
        if not 0 <= texts.option < len(texts.options):
            n_options = len(texts.options)
            raise InputError(f"expected an option from 1 to {n_options}, got {texts.option + 1}")
        item = self.items([(texts.first, texts.second, texts.options)])[0]
        asked = self.question_texts(texts.second, texts.options[texts.option])
        names = ("question", "option") if len(asked) > 1 else ("question with option",)
        passage, others = ("passage", texts.first), list(zip(names, asked, strict=True))
        contents = [[passage], others]
        if self.model.head.layout == "question+option|passage":
            contents = [others, [passage]]
        elif len(asked) > 1 and self.model.head.layout == "passage+question|option":
            contents = [[passage, others[0]], [others[1]]]
        parts, border = item.sequences[texts.option], item.borders[texts.option]
        found = lay_out_parts(self.texts.builder, parts, contents, border=border)
        return found._replace(batch=self.on_device(found.batch))

    def collate(self, items: Sequence[ChoiceItem]) -> dict[str, Tensor]:
        """Build a padded batch, with the sequences of all questions one after another.

        Args:
            items: encoded questions.

        Returns:
            The tensors of :meth:`SequenceBuilder.collate`, ``[n_sequences, n_pieces]``;
            ``n_options``, ``[n_questions]``; and, if all items have answers, ``labels``,
            ``[n_questions]``.
        """
        batch = self.texts.builder.collate([pair for item in items for pair in item.sequences])
        batch["n_options"] = torch.tensor([len(item.sequences) for item in items])
        if all(item.answer >= 0 for item in items):
            batch["labels"] = torch.tensor([item.answer for item in items])
        return batch

    @torch.inference_mode()
    def _score(self, items: Sequence[ChoiceItem]) -> list[Tensor]:
        """Score the options of each question, ``[n_options]`` each."""
        scores: dict[int, Tensor] = {}
        for batch in steps(token_budget_batches([len(item) for item in items], self.batch_tokens)):
            tensors = self.on_device(self.collate([items[index] for index in batch]))
            tensors.pop("labels", None)
            with autocast(self.model.device, self.precision):
                found = self.model(**tensors).logits.cpu()
            for index, row in zip(batch.tolist(), found, strict=True):
                scores[index] = row[: len(items[index].sequences)]
        return [scores[index] for index in range(len(items))]
