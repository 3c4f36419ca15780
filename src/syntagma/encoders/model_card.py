"""Model cards: the ``README.md`` of a model folder, whose beginning the Hugging Face hub reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.outputs import write_text
from syntagma.settings import build

README = "README.md"
UNNAMED = "NAME"
ANYWHERE = f"OWNER/{UNNAMED}"
"""Name of a model in a card that was written before the model had one on the hub."""


@dataclass(frozen=True, kw_only=True)
class CardSettings:
    """What only the author of a model knows.

    Args:
        license: identifier of the licence on the hub, such as ``apache-2.0``.
        language: codes of languages, such as ``en``.
        datasets: names on the hub of the training data.
        metrics: scores by the names of metrics, such as ``{"f1": 82.5}``.
        widget: example inputs for the page on the hub; by default an example of the task.
        tags: further tags.
        text: further text of the card, in Markdown.
    """

    license: str = ""
    language: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    metrics: dict[str, float] | None = None
    widget: tuple[Any, ...] = ()
    tags: tuple[str, ...] = ()
    text: str = ""


class CardKind(NamedTuple):
    """What the cards of all models of a class have in common.

    Args:
        pipeline_tag: name of the task on the hub; empty if the hub has none.
        usage: Python that loads the model called ``NAME``.
        widget: example input for the page on the hub.
    """

    pipeline_tag: str
    usage: str
    widget: Mapping[str, str] | None = None


def class_usage(name: str, call: str = "") -> str:
    """Return Python that loads and calls a class of this package.

    Args:
        name: name of the class.
        call: what to do with ``model``.

    >>> print(class_usage("Reader", "model(passage, question).text"))
    from syntagma import Reader
    <BLANKLINE>
    model = Reader.from_pretrained("NAME")
    model(passage, question).text
    """
    lines = [f"from syntagma import {name}", "", f'model = {name}.from_pretrained("NAME")', call]
    return "\n".join(lines).rstrip()


def read_card(card: CardSettings | Mapping[str, Any] | None) -> CardSettings:
    """Check the settings of a card.

    Args:
        card: the settings, or a mapping with some of them.

    Raises:
        InputError: a setting is unknown or has the wrong type.
    """
    if card is None:
        return CardSettings()
    return card if isinstance(card, CardSettings) else build(CardSettings, card, where="card")


def write_card(folder: Path, model: Any, card: CardSettings) -> None:
    """Write the card of a model, which has no name yet.

    Args:
        folder: the model's folder.
        model: the model (:class:`syntagma.encoders.model.SyntagmaModel`).
        card: what its author says.
    """
    from huggingface_hub import ModelCard, ModelCardData

    config, kind = model.config, model.card_kind
    widget = [*card.widget] or ([dict(kind.widget)] if kind.widget else None)
    data = ModelCardData(
        license=card.license or None,
        language=[*card.language] or None,
        library_name="syntagma",
        pipeline_tag=kind.pipeline_tag or None,
        base_model=hub_name(config.base) or None,
        datasets=[*card.datasets] or None,
        metrics=[*(card.metrics or ())] or None,
        tags=[*dict.fromkeys(("syntagma", *config.guides, *card.tags))],
        widget=widget,
        **_results(card, kind),
    )
    text = "\n\n".join(_sections(model, card))
    content = ModelCard(f"---\n{data.to_yaml()}\n---\n\n{text}\n").content
    write_text(folder / README, content)


def name_card(path: Path, name: str) -> None:
    """Write the name on the hub into a card that was written without one.

    Args:
        path: the card.
        name: ``OWNER/NAME``.
    """
    text, own = path.read_text(encoding="utf-8"), name.rpartition("/")[2]
    # The title, and the name in the results.
    for start in ("# ", "- name: "):
        text = text.replace(f"\n{start}{UNNAMED}\n", f"\n{start}{own}\n", 1)
    write_text(path, text.replace(ANYWHERE, name))


def hub_name(base: str) -> str:
    """Return the name on the hub of an encoder; empty for a folder and for no encoder.

    Args:
        base: a named encoder, a hub name, or a folder.
    """
    if base in NAMED_MODELS:
        return NAMED_MODELS[base].hub
    return base if base.count("/") == 1 and base[0] not in "./~" and "\\" not in base else ""


def _results(card: CardSettings, kind: CardKind) -> dict[str, Any]:
    """Return the results in the form that the hub draws, which names the data of each."""
    from huggingface_hub import EvalResult

    if not card.metrics or len(card.datasets) != 1 or not kind.pipeline_tag:
        return {}
    dataset = card.datasets[0]
    results = [
        EvalResult(
            task_type=kind.pipeline_tag,
            dataset_type=dataset,
            dataset_name=dataset,
            metric_type=metric,
            metric_value=value,
        )
        for metric, value in card.metrics.items()
    ]
    return {"model_name": UNNAMED, "eval_results": results}


def _sections(model: Any, card: CardSettings) -> list[str]:
    config, kind = model.config, model.card_kind
    base = hub_name(config.base)
    guides = " and ".join(f"`{guide}`" for guide in config.guides)
    about = [
        f"A model for `{config.task}`" if config.task else "An encoder",
        f" on [{base}](https://huggingface.co/{base})" if base else "",
        f", which reads syntax through {guides}" if guides else "",
        ", saved by the Python library Syntagma.",
    ]
    parts = [f"# {UNNAMED}", "".join(about)]
    if names := config.labels.get("labels"):
        shown = ", ".join(f"`{label}`" for label in names[:20])
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        parts.append(f"Labels: {shown}{more}.")
    if card.text:
        parts.append(card.text.strip())
    parts += ["## Use it", f"```python\n{kind.usage.replace(UNNAMED, ANYWHERE)}\n```"]
    if config.guides and config.parser:
        reads = {column for guide in model.guides for column in guide.columns}
        trees = f"It was trained with the trees of `{config.parser}`, and"
        # Words, sentences and the order of two texts are known without trees.
        if reads - {"domain", "word", "sentence"}:
            parts.append(f"{trees} is used with them.")
        elif any(guide.taught for guide in model.guides):
            parts.append(f"{trees} needs no parser now.")
    if card.metrics:
        rows = [f"| {metric} | {value:g} |" for metric, value in card.metrics.items()]
        parts += ["## Results", "\n".join(["| metric | score |", "|---|---|", *rows])]
    return parts
