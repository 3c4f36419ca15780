"""The models and indexes that a worker has loaded, by name."""

from __future__ import annotations

from typing import Any

from syntagma.encoders.reference import find_model
from syntagma.errors import InputError
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import load_parser
from syntagma.serve.named_models import NamedModel
from syntagma.serve.worker import WorkerPlan
from syntagma.tasks import find_task
from syntagma.tasks.open_qa.documents import Index
from syntagma.tasks.open_qa.reader import OpenReader
from syntagma.tasks.predictor import TextPredictor
from syntagma.tasks.spans.reader import Reader

KEPT_TEXTS = 32
"""Texts of a batch whose parses are kept until the next one.  Their pieces with the syntax that a
model reads are kept longer (:class:`syntagma.tasks.predictor.TextEncoder`)."""


class Loaded:
    """What a worker has loaded.

    Args:
        plan: what to load.

    Attributes:
        parsers: parsers by name.
        readers: readers of texts.
        open_readers: readers of indexes; none without indexes.
        indexes: indexes.
        predictors: models for all tasks but parsing, readers of texts included.
        described: what clients may know of each.

    Raises:
        InputError: a model cannot be loaded.
    """

    def __init__(self, plan: WorkerPlan) -> None:
        self.plan = plan
        self.parsers: dict[str, JointParser] = {}
        self.readers: dict[str, Reader] = {}
        self.open_readers: dict[str, OpenReader] = {}
        self.indexes: dict[str, Index] = {}
        self.predictors: dict[str, Any] = {}
        self.described: dict[str, Any] = {}
        self._has_indexes = any(model.kind == "index" for model in plan.models)
        # Parsers first: readers share them.
        for model in sorted(plan.models, key=lambda model: model.kind != "parser"):
            self._load(model)

    def _load(self, model: NamedModel) -> None:
        described: dict[str, Any] = {"kind": model.kind, "task": model.task}
        if model.kind == "index":
            index = Index.open(model.place, device=self.plan.device)
            self.indexes[model.name] = index
            described |= {"documents": len(index.documents), "passages": len(index)}
        elif model.kind == "parser":
            parser = load_parser(model.place, device=self.plan.device)
            self.parsers[model.name] = parser
            described |= _identity(model) | {"phrases": parser.model.spans is not None}
        else:
            described |= _identity(model) | self._load_predictor(model)
        self.described[model.name] = described

    def _load_predictor(self, model: NamedModel) -> dict[str, Any]:
        options: dict[str, Any] = {"device": self.plan.device, "precision": self.plan.precision}
        if model.kind == "reader" and (self._has_indexes or model.task == "open_qa"):
            open_reader = OpenReader.from_pretrained(model.place, **options)
            self._share_parser(open_reader.reader)
            self.open_readers[model.name] = open_reader
            self.predictors[model.name] = open_reader
        if model.task != "open_qa":
            predictor_class: Any = Reader
            if model.kind == "predictor":
                predictor_class = getattr(find_task(model.task), "predictor_class", None)
                if not hasattr(predictor_class, "inputs"):
                    raise InputError(
                        f"--model {model.place}: models of the task {model.task} cannot be served"
                    )
            predictor = predictor_class.from_pretrained(model.place, **options)
            self._share_parser(predictor)
            self.predictors[model.name] = predictor
            if model.kind == "reader":
                self.readers[model.name] = predictor
        found = self.predictors[model.name]
        described = {"inputs": list(found.inputs)}
        labels = getattr(found, "labels", None)
        return described | ({"labels": list(labels)} if labels else {})

    def _share_parser(self, predictor: TextPredictor[Any]) -> None:
        """Let a model read the parses of a parser that is loaded, and keep few of them."""
        cache = predictor.texts.cache
        if cache is None:
            return
        same = (
            parser
            for parser in self.parsers.values()
            if parser.fingerprint == cache.source.fingerprint
        )
        # By default a cache keeps thousands of texts, which may be long here.
        predictor.texts.cache = ParseCache(next(same, cache.source), group=KEPT_TEXTS)


def _identity(model: NamedModel) -> dict[str, str]:
    identity = find_model(model.place).identity()
    return {"version": identity["version"], "digest": identity["digest"]}
