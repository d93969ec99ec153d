"""`tooltray tools override`: merges an override from the command line with the one in the settings. Needs no hub."""

import argparse
from collections.abc import Mapping
from typing import Any

from tooltray.cli.speech import tr
from tooltray.foundation.errors import TooltrayError

Override = dict[str, Any]
"""An override as in `toolOverrides`: `name`, `description`, `title`, `annotations`, `icons`."""

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_VALUES: Mapping[str, bool | None] = {"yes": True, "no": False, "own": None}
_TEXTS = ("name", "description", "title")


def given(args: argparse.Namespace) -> Override:
    """Returns the override that was typed.

    Raises:
        TooltrayError: a hint is unknown, or has an invalid value.
    """
    texts = {text: value for text in _TEXTS if (value := getattr(args, text)) is not None}
    hints = {"annotations": dict(map(_hint, args.hint))} if args.hint else {}
    return texts | hints | ({"icons": [{"src": src} for src in args.icon]} if args.icon else {})


def before(entry: Mapping[str, object], tool: str) -> Override:
    """Returns the part of a tool's override in the settings that can be kept."""
    overrides = entry.get("toolOverrides")
    found = overrides.get(tool) if isinstance(overrides, dict) else None
    kinds = {**dict.fromkeys(_TEXTS, str), "annotations": dict, "icons": list}
    return {name: found[name] for name, kind in kinds.items() if isinstance(found.get(name), kind)} if isinstance(found, dict) else {}


def merged(before: Override, given: Override) -> Override:
    """Merges two overrides: hints one by one, everything else as a whole."""
    hints = {**before.get("annotations", {}), **given.get("annotations", {})}
    hints = {name: value for name, value in hints.items() if value is not None}
    return {**before, **given, "annotations": hints} if hints else {k: v for k, v in {**before, **given}.items() if k != "annotations"}


def said(tool: str, override: Override, got: str) -> str:
    """Describes the outcome. `got`: the name that AI clients see."""
    if not override:
        return tr("{tool} has its own name and description again.", tool=tool)
    shown = tr("as {got}", got=got) if override.get("name") else tr("under its own name")
    if override.keys() <= {"name"}:
        return tr("{tool} is shown {how}.", tool=tool, how=shown)
    if override.keys() <= {"name", "description"}:
        return tr("{tool} is shown {how}, with your description.", tool=tool, how=shown)
    return tr("{tool} is shown {how}, in your words.", tool=tool, how=shown)


def _hint(text: str) -> tuple[str, bool | None]:
    name, _, value = text.partition("=")
    if name not in HINTS or value not in _VALUES:
        hint = tr("Give one of {hints}, and yes, no or own: --hint readOnlyHint=no", hints=", ".join(HINTS))
        raise TooltrayError(tr("{hint} is no hint", hint=text), hint=hint)
    return name, _VALUES[value]
