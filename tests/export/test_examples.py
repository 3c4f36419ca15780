"""The examples answer questions with an exported reader, without torch, as our own reader does."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest
import torch

from syntagma.encoders.default import find_default
from syntagma.export.folder import export
from syntagma.parse.dependency import maximum_spanning_tree
from syntagma.parse.shapes import word_shapes
from syntagma.syntax.ancestors import tour
from syntagma.tasks.spans.reader import Reader
from tests.export.exported import new_task, save
from tests.messages import says

EXAMPLES = Path(__file__).parents[2] / "examples"
PASSAGE = "The old ferry crossed the wide river before dawn. A gull cried, and the crew slept."
QUESTION = "What crossed the river?"


def load(name):
    """An example as a module."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example():
    return load("onnx_reader")


@pytest.fixture(scope="module")
def example_parser(example):
    return load("onnx_parser")


def chain(example, text):
    """Linear trees, as the parse source of that name gives them: each word depends on the next."""
    from syntagma.parse.sources.load import load_source

    parses = load_source("linear").parse_texts([text])
    return [
        [
            example.Word(start, end, head, relation, "", "")
            for start, end, head, relation in zip(
                parse.sentence.starts,
                parse.sentence.ends,
                parse.heads,
                parse.relations or ["dep"] * len(parse.heads),
                strict=True,
            )
        ]
        for parse in next(iter(parses))
    ]


@pytest.mark.parametrize("guides", ["sg-net", "all"])
def test_its_best_span_is_that_of_our_reader(guides, encoder_folders, tmp_path, example):
    head = {"max_length": 40, "doc_stride": 8, "max_question_length": 16}
    task, data = new_task("spans", encoder_folders["bert"], tmp_path, guides, head=head)
    folder = save(task, tmp_path / "model")
    export(folder, tmp_path / "reader", check=[data])
    model = example.Model(tmp_path / "reader")
    reader = Reader.from_pretrained(folder, precision="float32")
    for question in (QUESTION, "What did the crew do before dawn?"):
        (wanted,) = reader.predictions([(PASSAGE, question)])
        found = example.answer(model, PASSAGE, question, lambda text: chain(example, text))
        assert wanted.n_windows > 1
        assert (found["start"], found["end"]) == (wanted.spans[0].start, wanted.spans[0].end)
        assert found["score"] == pytest.approx(wanted.score, abs=1e-4)
        assert found["null_score"] == pytest.approx(wanted.null_score, abs=1e-4)


def test_a_reader_of_trees_says_that_it_needs_some(encoder_folders, tmp_path, example, capsys):
    model = type("Model", (), {"config": {"columns": ["enter", "exit", "word"]}})
    with pytest.raises(SystemExit) as leaving:
        example.answer(model, PASSAGE, QUESTION)
    assert says(str(leaving.value), "--parser --trees")


def test_its_walk_is_that_of_the_package(example):
    random = np.random.default_rng(3)
    for n_words in range(1, 8):
        for _ in range(20):
            heads = maximum_spanning_tree(random.normal(size=(n_words, n_words + 1)))
            wanted = tour(heads, np.zeros(n_words, int))
            enter, leave, depth = example.walk(heads.tolist())
            assert [leave[k] - enter[k] for k in range(n_words)] == (
                wanted.exit - wanted.enter
            ).tolist()
            assert depth == wanted.depth.tolist()
            assert sorted(enter) == list(range(n_words))


def test_its_trees_are_the_best_ones(example_parser):
    random = np.random.default_rng(4)
    for n_words in range(1, 9):
        for _ in range(30):
            arcs = random.normal(size=(n_words, n_words + 1))
            arcs[np.arange(n_words), np.arange(1, n_words + 1)] = -np.inf
            found, wanted = example_parser.best_tree(arcs), maximum_spanning_tree(arcs)
            rows = np.arange(n_words)
            assert (found == 0).sum() == 1
            assert arcs[rows, found].sum() == pytest.approx(arcs[rows, wanted].sum())


class Counting:
    """A model that reads ten pieces, one for each letter, and knows how many it was given."""

    def __init__(self):
        self.lengths = []
        self.config = {
            "max_pieces": 10,
            "sequence": {"one": {"special": [[0], [1]]}},
            "labels": {"relations": ["root", "dep"], "upos": ["X"], "xpos": ["X"]},
        }

    def cut(self, text):
        places = [place for place, letter in enumerate(text) if letter != " "]
        return np.zeros(len(places), np.int64), np.array([(p, p + 1) for p in places], np.int64)

    def run(self, inputs):
        n_words = int(inputs["n_words"][0])
        self.lengths.append(inputs["input_ids"].shape[1])
        arcs = np.zeros((1, n_words, n_words + 1))
        tags = np.zeros((1, n_words, 1))
        return {"arcs": arcs, "relations": np.zeros((1, n_words, n_words + 1, 2)),
                "upos": tags, "xpos": tags}  # fmt: skip


def test_a_sentence_that_is_too_long_is_parsed_in_parts(example_parser):
    model, text = Counting(), "a gull cried and no one heard it ever again"
    found = example_parser.parse_text(model, text)
    assert max(model.lengths) <= 10
    assert [text[word.start : word.end] for part in found for word in part] == text.split()
    assert all(sum(word.head == 0 for word in part) == 1 for part in found)
    model = Counting()
    assert len(example_parser.parse_text(model, "a gull")) == 1
    assert model.lengths == [7]


def test_its_word_shapes_are_those_of_the_package(example_parser):
    forms = ["the", "The", "THE", "T", "iPhone", "3", "B2", "don't", "...", "Été", "A.", "東京"]
    assert [example_parser.shape(form) for form in forms] == word_shapes(forms).tolist()


needs_default = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The reader and the parser that ship, a reader with a guide, and the trees of a passage."""
    from syntagma import load_parser
    from syntagma.encoders.load import load_tokenizer
    from syntagma.models.span_model import SpanHead, SpanModel
    from syntagma.tasks.spans.task import SpanTask
    from syntagma.text.conllu import TreebankSentence, format_conllu

    folder = tmp_path_factory.mktemp("shipped")
    for name in ("reader", "parser"):
        export(f"default-{name}", folder / name, int8=True)
    torch.manual_seed(1)
    model = SpanModel.from_encoder(
        "default", guides="sg-net", parser="default-parser", task="spans", head=SpanHead()
    )
    guided = Reader(model, load_tokenizer("default"), source=load_parser("default-parser"))
    SpanTask(guided).save(folder / "saved")
    export(str(folder / "saved"), folder / "guided", int8=True)
    text = (EXAMPLES / "ferry.txt").read_text(encoding="utf-8")
    parses = load_parser("default-parser").parse_text(text)
    trees = "".join(
        format_conllu(TreebankSentence.from_parse(parse, text=text)) for parse in parses
    )
    (folder / "ferry.conllu").write_text(trees, encoding="utf-8")
    return folder


@needs_default
@pytest.mark.slow
def test_it_answers_in_an_environment_without_torch(shipped, tmp_path):
    assert (shipped / "reader/model.onnx").stat().st_size < 30e6
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    needed = ["onnxruntime", "tokenizers", "numpy"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *needed], check=True)
    without = subprocess.run([python, "-c", "import torch"], capture_output=True)
    assert without.returncode == 1

    def answer(reader, *more):
        command = [python, EXAMPLES / "onnx_reader.py", shipped / reader, EXAMPLES / "ferry.txt"]
        question = "What was the Perseverance built of?"
        return subprocess.run([*command, question, *more], capture_output=True, text=True)

    done = answer("reader")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "oak" in found["text"]
    assert found["outcome"] == "answer"
    for more in (("--parser", shipped / "parser"), ("--trees", shipped / "ferry.conllu")):
        done = answer("guided", *more)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["text"]
    refused = answer("guided")
    assert refused.returncode == 1
    assert says(refused.stderr, "--parser --trees")


@needs_default
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node.js and npm")
@pytest.mark.parametrize("name", ["reader", "guided"])
def test_it_answers_in_javascript(name, shipped, tmp_path, example):
    shutil.copytree(EXAMPLES / "onnx_js", tmp_path / "js", ignore=shutil.ignore_patterns("node_*"))
    install = ["npm", "install", "--silent", "--onnxruntime-node-install=skip"]
    if subprocess.run(install, cwd=tmp_path / "js", capture_output=True).returncode:
        pytest.skip("onnxruntime-node cannot be fetched from the npm registry")
    text, question = EXAMPLES / "ferry.txt", "Who fitted a coal barge with an engine?"
    trees = [shipped / "ferry.conllu"] if name == "guided" else []
    done = subprocess.run(
        ["node", "reader.mjs", shipped / name, text, question, *trees],
        cwd=tmp_path / "js", capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    passage = text.read_text(encoding="utf-8")
    wanted = example.answer(
        example.Model(shipped / name),
        passage,
        question,
        trees=example.read_conllu(*trees, passage) if trees else None,
    )
    assert found["answered"] or name == "guided"
    assert (found["text"], found["start"], found["end"]) == (
        wanted["text"],
        wanted["start"],
        wanted["end"],
    )
    assert found["score"] == pytest.approx(wanted["score"], abs=1e-3)
