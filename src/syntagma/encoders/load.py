"""Load pretrained encoders and their tokenizers, always in float32 and without remote code."""

from __future__ import annotations

import inspect
import logging
import warnings
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
)

from syntagma.encoders import hub
from syntagma.encoders.default import CONFIG, ENCODERS, TOKENIZER, how_to_get
from syntagma.encoders.marian import MarianTokenizer, marian_files
from syntagma.encoders.padding import hide_padding
from syntagma.encoders.quiet import quiet
from syntagma.encoders.reference import ModelName, ModelRef, find_model
from syntagma.encoders.saved import (
    in_short,
    require_finite,
    saved_encoder_config,
    saved_weights,
)
from syntagma.encoders.saved_config import read_encoder_config
from syntagma.encoders.tokenizer_files import REMEDY, check_tokenizer_files
from syntagma.encoders.tokenizer_probe import problem_of, without_panics
from syntagma.errors import DamagedFileError, InputError, MissingExtraError
from syntagma.text.alignment import is_panic, require_offsets

log = logging.getLogger(__name__)


def _explain(ref: ModelRef, error: BaseException) -> InputError:
    """Turn an exception of Transformers into one line that names the remedy."""
    # If the folder exists, the hub is not the reason, whatever the error says.
    why = "" if ref.folder.exists() else hub.reason(ref.place, error, ref.options)
    if ref.name in ENCODERS and why:
        advice = f"{how_to_get(ref.name)}; {why}"
    elif why:
        advice = f"no such folder, and {why}; use a model folder, a hub name, or 'default'"
    else:
        reason = in_short(error)
        if "ignore_mismatched_sizes" in reason:  # It refers to a report that is not shown.
            reason = f"its weights have other sizes than its {CONFIG} says"
        advice = f"Transformers cannot load it ({reason})"
    return InputError(f"encoder {ref.name!r}: {advice}")


PREFIX = "encoder."
"""Prefix of the encoder's weights in a model of this package."""

TOKENIZER_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)

SENTENCEPIECE_FILES = ("spiece.model", "spm.model", "sentencepiece.bpe.model")
"""Names of SentencePiece models; ``tokenizer.model`` may be one, or a file of tiktoken."""


def load_encoder_config(name: ModelName) -> PretrainedConfig:
    """Load the configuration of a pretrained encoder.

    Args:
        name: ``default``, a folder, or a hub name; a model saved by this package stands for its
            encoder.

    Raises:
        InputError: there is no such encoder.
    """
    ref = find_model(name)
    if ref.kind == "model":
        return saved_encoder_config(ref)
    path = ref.folder / CONFIG
    if path.is_file():
        read_encoder_config(path)
    # Transformers' own checks raise exceptions of many kinds, as they do below.
    try:
        with quiet(), hub.access(ref.place, ref.options):
            return AutoConfig.from_pretrained(
                ref.place, trust_remote_code=False, **ref.hub_arguments
            )
    except Exception as error:
        raise _explain(ref, error) from error


def _options(config: PretrainedConfig, auto: Any) -> dict[str, Any]:
    """Return the argument that omits the pooling layer, which no model here reads or trains.

    The mapping is private to Transformers; it has no public way to find the class of a
    configuration, on which it depends whether the argument exists.
    """
    if type(config) not in auto._model_mapping:
        wanted = "encoder" if auto is AutoModel else "encoder-decoder"
        instead = "" if auto is AutoModel else "; use one, such as BART, mBART or T5, or 'scratch'"
        raise InputError(f"encoder: expected an {wanted}, got type {config.model_type!r}{instead}")
    model_class = auto._model_mapping[type(config)]
    if isinstance(model_class, tuple | list):
        model_class = model_class[0]
    accepted = inspect.signature(model_class.__init__).parameters
    return {"add_pooling_layer": False} if "add_pooling_layer" in accepted else {}


def _trunk(model: Any, auto: Any) -> nn.Module:
    """Return the encoder of a model with a decoder, unless the whole model is needed."""
    wants_all = auto is not AutoModel or not model.config.is_encoder_decoder
    trunk: nn.Module = model if wants_all else model.get_encoder()
    if not isinstance(trunk, PreTrainedModel):
        raise InputError(
            f"encoder: {CONFIG} says is_encoder_decoder, but a model of type "
            f"{model.config.model_type!r} has no decoder; set it to false"
        )
    return trunk


def build_encoder(config: PretrainedConfig, auto: Any = AutoModel) -> nn.Module:
    """Build an encoder with randomly initialised weights.

    Args:
        config: the encoder's configuration.
        auto: the class of Transformers that builds the encoder.

    Raises:
        InputError: the class has no model for this configuration.
    """
    if config.model_type == "big_bird":
        # With sparse attention, the first short batch would switch it to full attention for good.
        config.attention_type = "original_full"
    # Whatever a configuration says: outputs are read by name, and texts have any length.
    config.return_dict, config.chunk_size_feed_forward = True, 0
    options = {"dtype": torch.float32, **_options(config, auto)}
    encoder: nn.Module = _trunk(auto.from_config(config, **options), auto)
    if not hide_padding(encoder):
        log.warning(
            "encoders of type %r read padding as text: the states of a text depend on the batch",
            config.model_type,
        )
    return encoder


def encoder_weights(name: ModelName, auto: Any = AutoModel) -> dict[str, torch.Tensor]:
    """Load the pretrained weights of an encoder, by their names in :func:`build_encoder`.

    Args:
        name: ``default``, a folder, or a hub name.
        auto: the class of Transformers that loads the encoder.

    Raises:
        InputError: there is no such encoder, or it belongs to a translation model.
        DamagedFileError: weights are missing.
    """
    ref = find_model(name)
    if ref.kind == "model":
        if auto is AutoModel and ref.settings["task"] == "translation":
            raise InputError(
                f"encoder {ref.name!r}: the encoder of a model for 'translation' cannot be used "
                f"without its decoder; use an encoder, or a model for another task"
            )
        saved = saved_weights(ref, encoder_weights=partial(encoder_weights, auto=auto))
        return {
            key.removeprefix(PREFIX): part for key, part in saved.items() if key.startswith(PREFIX)
        }
    config = load_encoder_config(ref)
    options = {"dtype": torch.float32, "trust_remote_code": False, **_options(config, auto)}
    options |= ref.hub_arguments
    _require_plausible_size(ref, config, auto)
    try:
        with quiet(), hub.access(ref.place, ref.options), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message="Casting complex values")
            model, found = auto.from_pretrained(ref.place, output_loading_info=True, **options)
    except Exception as error:
        raise _explain(ref, error) from error
    encoder = _trunk(model, auto)
    if lost := _lost(model, encoder, found["missing_keys"]):
        raise DamagedFileError(
            f"encoder {ref.name!r}: {len(lost)} of its weights are missing, for example "
            f"{lost[0]!r}; download it again"
        )
    weights: dict[str, torch.Tensor] = encoder.state_dict()
    require_finite(dict(encoder.named_parameters()), ref.folder)
    return weights


def _require_plausible_size(ref: ModelRef, config: PretrainedConfig, auto: Any) -> None:
    """Check that an encoder in a folder is not far larger than its weights.

    Transformers would allocate and initialise what the weights lack or have in other sizes.
    """
    files = [*ref.folder.glob("*.safetensors"), *ref.folder.glob("*.bin")]
    if not files:
        return
    try:
        with torch.device("meta"):
            blank = auto.from_config(config, **_options(config, auto))
    except InputError:
        raise
    except Exception as error:
        raise _explain(ref, error) from error
    n_weights = sum(weight.numel() for weight in blank.parameters())
    n_bytes = sum(path.stat().st_size for path in files)
    # At least a byte for each; a pooler or a decoder may be missing.
    if n_weights > 4 * n_bytes + 2**20:
        raise DamagedFileError(
            f"encoder {ref.name!r}: {CONFIG} describes {n_weights} weights, but there are only "
            f"{n_bytes} bytes of them; copy or download the encoder again"
        )


def _lost(model: nn.Module, encoder: nn.Module, missing: Collection[str]) -> list[str]:
    """Return the missing weights that the encoder needs and that are not tied to loaded ones.

    Exceptions are poolers, which no model here reads, and sinusoidal positions, which are computed.
    """
    named = dict(model.named_parameters(remove_duplicate=False))
    there = {id(weight) for name, weight in named.items() if name not in missing}
    needed = {id(weight) for weight in encoder.parameters()}
    lost = (name for name in missing if name in named and id(named[name]) in needed - there)
    return sorted(
        name
        for name in lost
        if "pooler" not in name
        and "Sinusoidal" not in type(model.get_submodule(name.rpartition(".")[0])).__name__
    )


def load_tokenizer(name: ModelName, config: PretrainedConfig | None = None) -> Any:
    """Load the fast tokenizer of an encoder, or of a model saved by this package.

    A saved model without tokenizer files uses the tokenizer of its base encoder.

    Args:
        name: ``default``, a folder, or a hub name.
        config: the encoder's configuration, if the folder's own describes another model.

    Raises:
        InputError: there is no tokenizer, or it has no character offsets.
        MissingExtraError: the packages that read its files are not installed.
    """
    ref = find_model(name)
    if not ref.has_tokenizer and (files := _marian_files(ref, config)):
        return _whole(MarianTokenizer(files))
    if ref.kind == "model":
        if not ref.has_tokenizer:
            try:
                return load_tokenizer(ref.built_on)
            except InputError as error:
                raise InputError(f"{ref.name}: has no {TOKENIZER} of its own; {error}") from error
        config = config or saved_encoder_config(ref)
    if (
        any((ref.folder / file).is_file() for file in SENTENCEPIECE_FILES)
        and not (ref.folder / "tokenizer.json").is_file()
    ):
        _require_sentencepiece(ref)
    if ref.folder.is_dir() and not any((ref.folder / file).is_file() for file in TOKENIZER_FILES):
        # Transformers would build a tokenizer with an empty vocabulary.
        raise InputError(
            f"encoder {ref.name!r}: the folder has no tokenizer; copy tokenizer.json into it"
        )
    check_tokenizer_files(ref.folder)
    sizes = _sizes(ref, config)
    with without_panics():
        tokenizer = _whole(_read_tokenizer(ref, config))
        try:
            problem = problem_of(tokenizer, sizes, is_own=ref.kind == "model")
        except InputError as error:
            raise DamagedFileError(f"{ref.name}: {error}") from error
    if problem:
        raise DamagedFileError(f"{ref.name}: the tokenizer cannot be used: {problem}; {REMEDY}")
    return tokenizer


def _sizes(ref: ModelRef, config: PretrainedConfig | None) -> dict[str, Any]:
    """Return the sizes of an encoder's tables of embeddings, as far as they are known."""
    if config is not None:
        return {name: getattr(config, name, None) for name in ("vocab_size", "type_vocab_size")}
    path = ref.folder / CONFIG
    return read_encoder_config(path) if path.is_file() else {}


def _read_tokenizer(ref: ModelRef, config: PretrainedConfig | None) -> Any:
    try:
        with quiet(), hub.access(ref.place, ref.options):
            tokenizer = AutoTokenizer.from_pretrained(
                ref.place, config=config, trust_remote_code=False, **ref.hub_arguments
            )
    except ImportError as error:
        _require_packages(ref, error)
        reason = str(error).strip().partition(". ")[0]
        raise InputError(
            f"encoder {ref.name!r}: its tokenizer cannot be loaded ({reason}); use a model with a "
            f"tokenizer.json, which needs no other package"
        ) from error
    except Exception as error:
        _require_packages(ref, error)
        raise _explain(ref, error) from error
    except BaseException as error:
        if not is_panic(error):
            raise
        raise _explain(ref, error) from error
    require_offsets(tokenizer)
    return tokenizer


def _require_packages(ref: ModelRef, error: Exception) -> None:
    """Check for SentencePiece: without it, Transformers takes its file for one of tiktoken."""
    if any(name in str(error).lower() for name in ("tiktoken", "sentencepiece", "protobuf")):
        _require_sentencepiece(ref)


def _require_sentencepiece(ref: ModelRef) -> None:
    """Check for the packages that read a tokenizer without a ``tokenizer.json``.

    Raises:
        MissingExtraError: one of them is not installed.
    """
    try:
        import google.protobuf  # noqa: F401
        import sentencepiece  # noqa: F401
    except ImportError as error:
        purpose = f"encoder {ref.name!r}: reading its tokenizer"
        raise MissingExtraError(purpose, "sentencepiece") from error


def _marian_files(ref: ModelRef, config: PretrainedConfig | None) -> dict[str, Path] | None:
    """Return the files of a Marian tokenizer, or ``None`` for another model."""
    if not ref.folder.is_dir():
        # Asking the hub for files that it lacks takes a request per file.
        config = config or load_encoder_config(ref)
        if config.model_type != "marian":
            return None
    return marian_files(ref.place, ref.options)


def _whole(tokenizer: Any) -> Any:
    """Turn off truncation and padding: sequences are built in ``syntagma.syntax.sequences``."""
    # A limit would only make the library warn about long texts.
    tokenizer.model_max_length = int(1e9)
    # Some files (the default encoder's is one) pad and truncate every text to 128 pieces.
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    return tokenizer


FROM_PADDING_ON = frozenset(
    "roberta xlm-roberta xlm-roberta-xl roberta-prelayernorm camembert mpnet longformer "
    "data2vec-text ibert luke mluke markuplm lilt xmod esm".split()
)
"""Encoders whose first position has the number of the padding id plus one, as in RoBERTa."""


def max_pieces(config: PretrainedConfig) -> int:
    """Return the length of the longest sequence that an encoder reads, with special tokens."""
    limit = getattr(config, "max_position_embeddings", None) or 512
    if limit < 0:  # XLNet has no limit.
        limit = 8192
    if config.model_type in FROM_PADDING_ON:
        limit -= (getattr(config, "pad_token_id", None) or 0) + 1
    return min(int(limit), 8192)
