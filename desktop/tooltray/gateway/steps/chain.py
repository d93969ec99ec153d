"""Reads the arguments of `run_steps`, and checks all that can be checked before the first call."""

from collections.abc import Collection
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Raw

from tooltray.catalogue.views.meta_tools import arguments_of
from tooltray.catalogue.views.steps_tool import ID_PATTERN, MOST_CALLS, MOST_STEPS
from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.steps.references import ITEM, Reference, checked, names, read

LONGEST_TOOL = 500  # characters; no client takes so long a name


class WrittenStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A step as a model writes it; see Step."""

    id: Annotated[str, msgspec.Meta(pattern=ID_PATTERN)]
    tool: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_TOOL)]
    for_each: list[Any] | dict[str, Any] | None = None
    arguments: dict[str, Any] = {}
    on_error: Literal["stop", "skip"] = "stop"


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"result": "return"}):
    steps: Annotated[list[WrittenStep], msgspec.Meta(min_length=1, max_length=MOST_STEPS)]
    result: Any
    dry_run: bool = False


class Step(msgspec.Struct, frozen=True):
    """One step.

    Attributes:
        id: its name in references.
        tool: as AI clients see it.
        arguments: after `references.read`.
        for_each: a list or a Reference; None: the step is one call.
        skips: a call that fails does not end the chain.
        written: the step as the model wrote it.
    """

    id: str
    tool: str
    arguments: object
    for_each: object
    skips: bool
    written: WrittenStep


class Chain(msgspec.Struct, frozen=True):
    """A chain of calls.

    Attributes:
        result: what the model wants, after `references.read`.
        is_dry: nothing is to be called.
        used: the steps whose values are needed.
    """

    steps: tuple[Step, ...]
    result: object
    is_dry: bool
    used: frozenset[str]


def read_chain(params: Raw) -> Chain:
    """Returns the chain that a call of `run_steps` describes.

    Raises:
        TooltrayError: it is wrong; the error has the path of the mistake and the reason, for a model.
    """
    written: _Written = checked(arguments_of(params), _Written, "")
    known, steps = list[str](), list[Step]()
    for place, step in enumerate(written.steps):
        steps.append(_step(step, f"steps[{place}]", known))
        known.append(step.id)
    result = read(written.result, "return", known)
    used = names(result).union(*(names([step.arguments, step.for_each]) for step in steps))
    return Chain(tuple(steps), result, written.dry_run, frozenset(used))


def _step(written: WrittenStep, path: str, known: Collection[str]) -> Step:
    if written.id in (*known, ITEM):
        reason = f"'{ITEM}' is the element of for_each" if written.id == ITEM else "an earlier step has this id"
        raise TooltrayError(f"{path}.id: {reason}")
    for_each = None if written.for_each is None else read(written.for_each, f"{path}.for_each", known)
    if isinstance(for_each, dict):
        raise TooltrayError(f"{path}.for_each: a list, or an object with '$', is needed")
    if isinstance(for_each, list):
        check_calls(len(for_each), f"{path}.for_each")
    values = known if for_each is None else (*known, ITEM)
    arguments = read(written.arguments, f"{path}.arguments", values)
    if isinstance(arguments, Reference):
        raise TooltrayError(f"{path}.arguments: each argument may be a reference, but not all of them together")
    return Step(written.id, written.tool, arguments, for_each, written.on_error == "skip", written)


def check_calls(count: int, path: str) -> None:
    """Checks how many calls a chain makes. Raises TooltrayError if there are too many."""
    if count > MOST_CALLS:
        raise TooltrayError(f"{path}: {count:,} calls", f"a chain makes at most {MOST_CALLS}; filter the list, or take its first elements")
