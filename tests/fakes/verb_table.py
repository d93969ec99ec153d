"""The verbs of the API, by name: the functions of the parts' classes, without a hub."""

from collections.abc import Callable
from typing import Any

from tooltray.api.parts import part_classes, verbs_of

KINDS = part_classes()
VERBS: dict[str, Callable[..., Any]] = {verb: getattr(kind, verb) for kind in KINDS.values() for verb in verbs_of(kind)}
PART_OF = {verb: part for part, kind in KINDS.items() for verb in verbs_of(kind)}
