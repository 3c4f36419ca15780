"""Make any pretrained Transformer encoder read with syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntagma.analysis.compare import compare_runs
    from syntagma.errors import InputError, SyntagmaError
    from syntagma.evaluation import evaluate, open_model, predict
    from syntagma.models.guided_encoder import GuidedEncoder
    from syntagma.models.guides import register_guide
    from syntagma.parse.parser import JointParser
    from syntagma.parse.sources.load import load_parser
    from syntagma.parse.sources.registered import register_parser
    from syntagma.parse.sources.source import ParseSource
    from syntagma.retrieval.registered import register_retriever
    from syntagma.syntax.tokenizer import SyntaxTokenizer
    from syntagma.tasks import register_task
    from syntagma.tasks.auto import register
    from syntagma.tasks.choice.chooser import Chooser
    from syntagma.tasks.experiment import load_experiment
    from syntagma.tasks.open_qa.documents import Index
    from syntagma.tasks.open_qa.reader import OpenReader
    from syntagma.tasks.pairs.task import PairClassifier
    from syntagma.tasks.relations.task import RelationClassifier
    from syntagma.tasks.spans.reader import Reader
    from syntagma.tasks.translation.task import Translator
    from syntagma.tasks.typing.task import EntityTyper
    from syntagma.text.segmentation.segment import segment
    from syntagma.text.sentence import Parse, Sentence, Word
    from syntagma.training.run import train

__version__ = "0.1.0"

__all__ = [
    "Chooser",
    "EntityTyper",
    "GuidedEncoder",
    "Index",
    "InputError",
    "JointParser",
    "OpenReader",
    "PairClassifier",
    "Parse",
    "ParseSource",
    "Reader",
    "RelationClassifier",
    "Sentence",
    "SyntagmaError",
    "SyntaxTokenizer",
    "Translator",
    "Word",
    "__version__",
    "compare_runs",
    "evaluate",
    "load_experiment",
    "load_parser",
    "open_model",
    "predict",
    "register",
    "register_guide",
    "register_parser",
    "register_retriever",
    "register_task",
    "segment",
    "train",
]

_HOMES = {
    "Chooser": "syntagma.tasks.choice.chooser",
    "EntityTyper": "syntagma.tasks.typing.task",
    "GuidedEncoder": "syntagma.models.guided_encoder",
    "Index": "syntagma.tasks.open_qa.documents",
    "InputError": "syntagma.errors",
    "JointParser": "syntagma.parse.parser",
    "OpenReader": "syntagma.tasks.open_qa.reader",
    "PairClassifier": "syntagma.tasks.pairs.task",
    "Parse": "syntagma.text.sentence",
    "ParseSource": "syntagma.parse.sources.source",
    "Reader": "syntagma.tasks.spans.reader",
    "RelationClassifier": "syntagma.tasks.relations.task",
    "Sentence": "syntagma.text.sentence",
    "SyntagmaError": "syntagma.errors",
    "SyntaxTokenizer": "syntagma.syntax.tokenizer",
    "Translator": "syntagma.tasks.translation.task",
    "Word": "syntagma.text.sentence",
    "compare_runs": "syntagma.analysis.compare",
    "evaluate": "syntagma.evaluation",
    "load_experiment": "syntagma.tasks.experiment",
    "load_parser": "syntagma.parse.sources.load",
    "open_model": "syntagma.evaluation",
    "predict": "syntagma.evaluation",
    "register": "syntagma.tasks.auto",
    "register_guide": "syntagma.models.guides",
    "register_parser": "syntagma.parse.sources.registered",
    "register_retriever": "syntagma.retrieval.registered",
    "register_task": "syntagma.tasks",
    "segment": "syntagma.text.segmentation.segment",
    "train": "syntagma.training.run",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: importing the package loads nothing else."""
    if name not in _HOMES:
        raise AttributeError(f"module 'syntagma' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
