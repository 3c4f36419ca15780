"""See through PEFT's wrappers of the parts of a model."""

from __future__ import annotations

from typing import Any


def active_copy(part: Any) -> Any:
    """Return a part of a model, or the copy of it that PEFT trains and uses in its place.

    With ``modules_to_save``, PEFT replaces a module by a wrapper that is no subclass of the
    module's class.

    Args:
        part: any attribute of a model.
    """
    while (copies := getattr(part, "modules_to_save", None)) is not None:
        name = part.active_adapters[0] if part.active_adapters else ""
        is_off = part.disable_adapters or name not in copies
        part = part.original_module if is_off else copies[name]
    return part
