"""The languages of a multilingual model for translation."""

from __future__ import annotations

from typing import Any

from syntagma.encoders.marian import MarianTokenizer
from syntagma.errors import InputError
from syntagma.models.translation_model import TranslationModel


def set_languages(model: TranslationModel, tokenizer: Any) -> None:
    """Set the languages of a multilingual tokenizer, and the first piece of the target.

    Args:
        model: its settings name the languages.
        tokenizer: its encoder's.

    Raises:
        InputError: the tokenizer does not know a language, or it needs a target language and none
            is given.
    """
    if isinstance(tokenizer, MarianTokenizer):
        tokenizer.ask_for(model.head.target_language)
        return
    for name, attribute in (("source_language", "src_lang"), ("target_language", "tgt_lang")):
        language = getattr(model.head, name)
        if not language:
            continue
        if tokenizer.convert_tokens_to_ids(language) in (None, tokenizer.unk_token_id):
            raise InputError(
                f"head.{name}: the tokenizer has no language code {language!r}; use the code given "
                f"on the model's page, such as en_XX for mBART"
            )
        if hasattr(tokenizer, attribute):
            setattr(tokenizer, attribute, language)
    if model.head.target_language:
        code = tokenizer.convert_tokens_to_ids(model.head.target_language)
        target = tokenizer(text_target="a")["input_ids"]
        model.speak(code, last=target[-1] == code)
    elif hasattr(tokenizer, "tgt_lang"):
        raise InputError(
            "head.target_language: this model is multilingual and would use its default language; "
            "set the code given on the model's page, such as de_DE"
        )
