"""New parsers to train: untrained ones, and saved ones that are trained further."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

from syntagma.encoders.config import SyntagmaConfig, read_config
from syntagma.encoders.dropout_settings import set_dropout
from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.parse.decode import DecodingMode
from syntagma.parse.head import ParserHead
from syntagma.parse.languages import LABEL, RESCORED, Languages
from syntagma.parse.parser import JointParser
from syntagma.parse.scorer import ParserModel
from syntagma.tasks.experiment import SAVED, Experiment
from syntagma.tasks.parsing.labels import collect_labels, extend_labels, untagged_languages
from syntagma.tasks.parsing.segmentation.by_language import (
    by_language,
    extended_languages,
    known_languages,
    learned_languages,
)
from syntagma.tasks.parsing.treebanks import TreeExample
from syntagma.text.segmentation.learned.pieces import pieces_of

MORPHOLOGY = ("feats", "lemmas", "lexicon")
"""Label sets that a saved parser can be given."""


def new_parser(experiment: Experiment, examples: Sequence[TreeExample]) -> JointParser:
    """Return an untrained parser with the labels of the examples.

    Args:
        experiment: the settings.
        examples: the training sentences.

    Raises:
        InputError: a setting is impossible, or there is no such encoder.
    """
    head = experiment.head
    tokenizer = load_tokenizer(experiment.encoder_ref)
    languages = learned_languages(examples, head.segmentation, pieces_of(tokenizer))
    model = ParserModel.from_encoder(
        experiment.encoder_ref,
        task="parsing",
        head=replace(
            head,
            mask_token_id=tokenizer.mask_token_id or 0,
            spaced_words=has_spaced_words(examples),
        ),
        labels=collect_labels(
            [example.gold for example in examples],
            phrases=head.views != "dependencies",
            morphology=head.morphology,
            untagged=bool(untagged_languages(examples)),
        )
        | {LABEL: known_languages(examples)}
        | _rescored(head, examples, languages),
        hidden_dropout=experiment.hidden_dropout,
        attention_dropout=experiment.attention_dropout,
        num_hidden_layers=experiment.num_hidden_layers,
    )
    _learn_by_value(model)
    return JointParser(
        model,
        tokenizer,
        precision=experiment.training.precision,
        decoding=full_decoding(model),
        languages=languages,
    )


def _learn_by_value(model: ParserModel) -> None:
    if model.morphology is not None and model.morphology.feats is not None:
        model.morphology.feats.learn_by_value(model.config.labels["feats"])


def _rescored(
    head: ParserHead, examples: Sequence[TreeExample], languages: Languages
) -> dict[str, list[str]]:
    """Return the label that names the languages whose sentence ends the encoder learns."""
    if head.sentence_ends == "words":
        return {}
    parts = by_language(examples)
    codes = [
        code
        for code, part in sorted(parts.items())
        if code in languages.segmenters and any(each.source for each in part)
    ]
    return {RESCORED: codes} if codes else {}


def has_spaced_words(examples: Sequence[TreeExample]) -> bool:
    """Whether a treebank has words with spaces inside."""
    return any(len(form.split()) > 1 for each in examples for form in each.gold.sentence.forms)


def head_of(experiment: Experiment) -> ParserHead:
    """Return the settings that a parser is trained with: those of the saved one, if there is one.

    Args:
        experiment: the settings.

    Raises:
        InputError: there is no such saved parser.
    """
    head: ParserHead = experiment.head
    if experiment.preset == SAVED:
        head = read_config(experiment.encoder_ref, task="parsing").read_head(ParserHead)
    return head


def full_decoding(model: ParserModel) -> DecodingMode:
    """Return the decoding mode that yields every view the model was trained on."""
    return "dependencies" if model.spans is None else model.decoding


def continue_parser(experiment: Experiment, examples: Sequence[TreeExample]) -> JointParser:
    """Return a saved parser to train further, with the labels, and languages, that it lacks.

    The settings of its head stay, and how it cuts the languages that it knows.  A scorer that gets
    more labels keeps its weights for the others.  It may forget what the treebank does not
    have: to keep the languages that it knows, name their treebanks in ``data.train`` as well.

    If its encoder is frozen (``training.encoder: frozen``), so is its trained head: only scorers of
    morphology that it lacks learn, and trees and tags remain as they are.

    Args:
        experiment: the settings; ``encoder`` names the parser.
        examples: the training sentences.

    Raises:
        InputError: ``encoder`` is no saved parser, a setting is impossible, or nothing is left to
            train.
    """
    ref = experiment.encoder_ref
    if ref.kind != "model" or ref.settings.get("task") != "parsing":
        raise InputError(
            f"preset saved: continues from a saved parser, and encoder {ref.name!r} is none; name "
            f"one, such as default-parser or the folder of a run, or give preset none"
        )
    if experiment.num_hidden_layers is not None:
        raise InputError(f"num_hidden_layers: with preset saved it is that of {ref.name}; omit it")
    trained = JointParser.from_pretrained(ref, precision=experiment.training.precision)
    saved, tokenizer = trained.model, trained.encoder.tokenizer
    known, is_frozen = saved.config.labels, experiment.training.encoder == "frozen"
    labels, languages, spaced = known, trained.languages, saved.head.spaced_words
    ends = saved.head.sentence_ends
    new = _labels_of(examples, known, experiment.head.morphology)
    if is_frozen:
        labels = known | {name: new[name] for name in MORPHOLOGY if name in new.keys() - known}
    else:
        languages = extended_languages(
            languages, examples, experiment.head.segmentation, pieces_of(tokenizer)
        )
        labels = extend_labels(known, new | ({LABEL: languages.codes} if languages.codes else {}))
        # The others are cut by words again: what their states say has changed.
        labels = {name: labels[name] for name in labels if name != RESCORED}
        labels |= _rescored(experiment.head, examples, languages)
        spaced = spaced or has_spaced_words(examples)
        ends = experiment.head.sentence_ends
    encoder = copy.deepcopy(saved.config.encoder)
    set_dropout(encoder, hidden=experiment.hidden_dropout, attention=experiment.attention_dropout)
    model = ParserModel(
        SyntagmaConfig(
            encoder=encoder,
            base=saved.config.base,
            task=saved.config.task,
            head=replace(
                _with_morphology(saved, experiment.head), spaced_words=spaced, sentence_ends=ends
            ),
            labels=labels,
        )
    )
    if not (is_frozen and "feats" in known):
        _learn_by_value(model)
    model.continue_from(ref)
    if is_frozen:
        if labels.keys() == known.keys():
            raise InputError(
                f"training.encoder: frozen trains only what {ref.name} lacks, and it lacks nothing "
                f"of head.morphology; give another value, such as lora"
            )
        for name, parameter in model.named_parameters():
            if name in model.pretrained_keys:
                parameter.requires_grad_(False)
    return JointParser(
        model.eval(),
        tokenizer,
        precision=experiment.training.precision,
        decoding=full_decoding(model),
        languages=languages,
    )


def _labels_of(
    examples: Sequence[TreeExample], known: Mapping[str, Sequence[str]], wanted: Sequence[str]
) -> dict[str, list[str]]:
    """Collect the labels of a treebank, of phrases and morphology what is known or wanted."""
    found = collect_labels(
        [each.gold for each in examples],
        phrases="constituents" in known,
        morphology=["auto", *(name for name in wanted if name != "auto")],
        untagged=bool(untagged_languages(examples)),
    )
    if "auto" in wanted:
        return found
    kept = {name for name in ("feats", "lemmas") if name in known or name in wanted}
    if "lemmas" in kept:
        kept.add("lexicon")
    return {name: found[name] for name in found if name not in MORPHOLOGY or name in kept}


def _with_morphology(saved: ParserModel, wanted: ParserHead) -> ParserHead:
    """Return the settings of a saved head, with those of the morphology that it is given."""
    head: ParserHead = saved.head
    if wanted.morphology:
        head = replace(head, morphology=wanted.morphology)
    if saved.morphology is None:
        head = replace(
            head,
            morphology_width=wanted.morphology_width,
            morphology_layer=wanted.morphology_layer,
        )
    return head
