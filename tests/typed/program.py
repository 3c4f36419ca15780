"""A user's program: every public name, with the types that an editor should know.

It is checked by ``tests/test_typed.py`` in strict mode, and never run.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, assert_type

from syntagma import (
    Chooser,
    EntityTyper,
    GuidedEncoder,
    Index,
    InputError,
    JointParser,
    OpenReader,
    PairClassifier,
    Parse,
    ParseSource,
    Reader,
    RelationClassifier,
    Sentence,
    SyntagmaError,
    SyntaxTokenizer,
    Translator,
    Word,
    __version__,
    compare_runs,
    evaluate,
    load_experiment,
    load_parser,
    open_model,
    predict,
    register,
    register_guide,
    register_parser,
    register_retriever,
    register_task,
    segment,
    train,
)
from syntagma.models.guide import Guide
from syntagma.parse.sources.source import Mode
from syntagma.retrieval.retriever import Hit, Passage
from syntagma.tasks.task import Task

TEXT = "The ferry left at noon."


def sentences_and_words() -> None:
    sentences = segment(TEXT)
    assert_type(sentences, list[Sentence])
    for sentence in sentences:
        assert_type(sentence.words, tuple[Word, ...])
        found = [(word.form, word.start, word.end) for word in sentence.words]
        assert_type(found, list[tuple[str, int, int]])


def parses() -> None:
    parser = load_parser("default-parser", device="cpu")
    assert_type(parser, JointParser)
    assert_type(parser(TEXT), list[Parse])
    assert_type(parser([TEXT, TEXT]), list[list[Parse]])
    parse = parser.parse([Sentence.from_words(["Gulls", "sleep"])])[0]
    assert_type(parse, Parse)
    assert_type(parse.heads, tuple[int, ...])
    assert_type(parse.relations, tuple[str, ...])
    assert_type(parse.to_conllu(), str)
    assert_type(parse.to_dict(), dict[str, Any])


def answers(questions: Sequence[str]) -> Iterator[str]:
    reader = Reader.from_pretrained("default-reader")
    answer = reader.answer(TEXT, questions[0], mode="strict")
    assert_type(answer.text, str)
    assert_type(answer.start, int | None)
    assert_type(answer.confidence, float)
    if answer.outcome == "unsure":
        yield f"{answer.text}?"
    for each in reader.stream((TEXT, question) for question in questions):
        yield each.text


def documents(folder: Path) -> None:
    index = Index.build([folder], folder / "index")
    found = index.answer("Who left?")
    assert_type(found.text, str)
    assert_type(found.source, str)
    if index.report is not None:
        assert_type(index.report.to_dict(), dict[str, Any])
    several = OpenReader.from_pretrained("default-reader").answer("Who left?", [TEXT])
    assert_type(several.text, str)


def other_tasks(folder: str) -> None:
    choice = Chooser.from_pretrained(folder).choose(TEXT, "Who left?", ["a ferry", "a gull"])
    assert_type(choice.chosen, int)
    pair = PairClassifier.from_pretrained(folder).classify(TEXT, "It left.")
    assert_type(pair.label, str)
    relation = RelationClassifier.from_pretrained(folder).relation(TEXT, (4, 9), (18, 22))
    assert_type(relation.label, str)
    types = EntityTyper.from_pretrained(folder).types(TEXT, (4, 9))
    assert_type(types.labels, tuple[str, ...])
    translation = Translator.from_pretrained(folder).translate(TEXT)
    assert_type(translation.text, str)


def own_pytorch_code() -> None:
    register()
    model = GuidedEncoder.from_encoder("default", preset="sg-net")
    tokenizer = SyntaxTokenizer.for_model(model, parser="default-parser")
    batch = tokenizer([TEXT])
    print(model(**batch).last_hidden_state.shape)


def experiments(config: Path) -> None:
    experiment = load_experiment(config, ["training.seed=2"])
    assert_type(train(experiment, Path("runs/a")), dict[str, Any])
    print(compare_runs(["runs/a", "runs/b"]).table())
    assert_type(evaluate("runs/a", ["dev.json"]), dict[str, Any])
    assert_type(predict("runs/a", ["dev.json"], Path("out.json")), int)
    print(open_model("runs/a").name, __version__)


class Chain:
    """A parse source: each word depends on the one before it."""

    @property
    def fingerprint(self) -> str:
        return "chain-1"

    def parse_texts(self, texts: Iterable[str]) -> Iterator[list[Parse]]:
        for text in texts:
            yield [Parse(sentence, tuple(range(len(sentence.words)))) for sentence in segment(text)]


class Everything:
    """A retriever: the same passage for every question."""

    def search(self, questions: Sequence[str], *, top: int) -> list[list[Hit]]:
        return [[] for _ in questions]

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        return []


def make_chain(argument: str = "", *, device: str = "cpu", mode: Mode = "raw") -> Chain:
    return Chain()


def make_everything(argument: str = "", *, device: str = "cpu") -> Everything:
    return Everything()


def parts(guide: type[Guide], task: type[Task[Any, Any]]) -> None:
    source: ParseSource = Chain()
    print(Reader.from_pretrained("default-reader", parser=source))
    register_parser("chain", make_chain)
    register_retriever("everything", make_everything)
    assert_type(register_guide(guide), type[Guide])
    register_task(task)


def mistakes() -> None:
    """What a type checker must report: unneeded comments that suppress a report are errors."""
    load_parser(3)  # pyright: ignore[reportArgumentType]
    reader = Reader.from_pretrained("default-reader")
    reader.answer(TEXT)  # pyright: ignore[reportCallIssue]
    reader.answer(TEXT, "Who?", mode="sure")  # pyright: ignore[reportArgumentType]
    print(reader.answer(TEXT, "Who?").txt)  # pyright: ignore
    segment([TEXT])  # pyright: ignore[reportArgumentType]
    register_parser("nothing", len)  # pyright: ignore[reportArgumentType]


def main() -> None:
    logging.getLogger("syntagma").setLevel(logging.ERROR)
    try:
        parses()
    except InputError as error:
        print(error)
    except SyntagmaError as error:
        raise SystemExit(1) from error
