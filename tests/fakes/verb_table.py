"""The verbs of the API, by name: the functions of the parts' classes, without a hub."""

import typing
from collections.abc import Callable
from typing import Any

from tooltray.api.parts import Api, verbs_of
from tooltray.app import hub

KINDS: dict[str, type] = typing.get_type_hints(Api, vars(hub))  # where all of them are imported to be made
VERBS: dict[str, Callable[..., Any]] = {verb: getattr(kind, verb) for kind in KINDS.values() for verb in verbs_of(kind)}
PART_OF = {verb: part for part, kind in KINDS.items() for verb in verbs_of(kind)}
