"""A small part of JSONPath (RFC 9535) over JSON as bytes: what is on the way is skipped, what is chosen comes back as it was written.

Above it: ResultReading. Below it: protocol/member_scanner. The paths: `$`, then any of `.name`, `['name']`, `[number]` (from the end where
it is negative) and `[*]` or `.*` (all elements, or all values).
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.member_scanner import elements_of, opened, scanned_elements, scanned_members

HOW = 'A path is "$", then ".name", "[\'name\']", "[0]", "[-1]" or "[*]" for each step: "$.items[0].name".'
MOST_STEPS = 64  # no path that somebody wrote has more
MOST_VALUES = 1_000_000  # at one step, and in all: a page shows some thousand, and each takes 80 bytes
OPENED_AT_ONCE_BYTES = 2**21  # has at most as many; larger values are gone through
_STEP = re.compile(
    r"\.(?P<name>[^.\[\]'\"*\s]+)|\[(?P<quote>['\"])(?P<quoted>.*?)(?P=quote)\]|\[(?P<number>-?\d{1,12})\]|(?P<all>\[\*\]|\.\*)"
)

Step = str | int | None
"""A member, an element, or all of them."""


def read_path(path: str) -> list[Step]:
    """The steps of a path.

    Raises:
        TooltrayError: it is none; in words for a model.
    """
    at, steps = 1, list[Step]()
    if not path.startswith("$"):
        raise TooltrayError(f"the path {path[:80]!r} does not begin with $", hint=HOW)
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or len(steps) == MOST_STEPS:
            raise TooltrayError(f"the path cannot be read from {path[at : at + 40]!r} on", hint=HOW)
        steps.append(_step(match))
        at = match.end()
    return steps


def _step(match: re.Match[str]) -> Step:
    if match["all"]:
        return None
    if match["number"]:
        return int(match["number"])
    return str(match["quoted"] if match["name"] is None else match["name"])


def chosen(value: Raw, steps: Sequence[Step]) -> Iterator[Raw]:
    """The values that a path leads to, in their order; what is not there gives none.

    Raises:
        ValueError: the value is no JSON.
    """
    if not steps:
        yield value
        return
    for next_value in _stepped(value, steps[0]):
        yield from chosen(next_value, steps[1:])


def _stepped(value: Raw, step: Step) -> Iterator[Raw]:
    view = memoryview(value)
    kind, is_large = bytes(view[:1]), len(view) > OPENED_AT_ONCE_BYTES
    if kind == b"{" and not isinstance(step, int):
        members = _members(view, step) if is_large else opened(value)
        if step is None:
            yield from members.values()
        elif step in members:
            yield members[step]
    elif kind == b"[" and not isinstance(step, str):
        yield from _elements(view, step) if is_large else _of(elements_of(value), step)


def _of(elements: Sequence[Raw], step: int | None) -> Sequence[Raw]:
    if step is None:
        return elements
    return [elements[step]] if -len(elements) <= step < len(elements) else []


def _members(view: memoryview, wanted: str | None) -> dict[str, Raw]:
    """Those of this name, or all; of two with the same name the last one counts."""
    found: dict[str, Raw] = {}
    for name, value in scanned_members(view):
        if wanted in (None, name):
            found[name] = Raw(value)
            check_number(len(found))
    return found


def _elements(view: memoryview, wanted: int | None) -> Iterator[Raw]:
    """One of them, or all; of the others none is kept."""
    elements = scanned_elements(view)
    if wanted is None:
        yield from map(Raw, elements)
    elif wanted >= 0:
        yield from map(Raw, islice(elements, wanted, wanted + 1))
    else:
        check_number(-wanted)
        last = deque(elements, maxlen=-wanted)
        if len(last) == -wanted:
            yield Raw(last[0])


def check_number(values: int) -> None:
    """
    Raises:
        TooltrayError: they are more than can be looked at; in words for a model.
    """
    if values > MOST_VALUES:
        raise TooltrayError(f"more than {MOST_VALUES:,} values are on this way", hint="Read it by offset, lines or grep.")
