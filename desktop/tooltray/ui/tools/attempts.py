"""Calls that the user has made from the window: what was sent and returned, how long it took; and the words for that. Kept only in memory,
and not for long."""

import json
from collections import deque
from collections.abc import Mapping
from datetime import datetime

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.shell_words import joined
from tooltray.ui.activity.activity_words import took
from tooltray.ui.i18n import tr

KEPT = 20  # attempts, of all tools together
LARGEST_KEPT = 1_000_000  # bytes of a result; a larger one is shown once
OK, CANCELLED = "ok", "cancelled"


class Attempt(msgspec.Struct, frozen=True):
    """A call that the user has made.

    Attributes:
        name: of the tool, as AI clients see it.
        at: unix seconds at which it began.
        outcome: as of MCPToolResponse.
        result: None without a result, or if it was too large to be kept.
        problem: why the call has no result.
    """

    name: str
    arguments: Mapping[str, object]
    at: float
    outcome: str
    duration_s: float
    result: Mapping[str, object] | None = None
    problem: Problem | None = None


class Attempts:
    """The last calls, the newest first."""

    def __init__(self) -> None:
        self._kept: deque[Attempt] = deque(maxlen=KEPT)

    def add(self, attempt: Attempt, result_bytes: int) -> None:
        """Adds a call; drops a large result."""
        self._kept.appendleft(attempt if result_bytes <= LARGEST_KEPT else msgspec.structs.replace(attempt, result=None))

    def of(self, name: str) -> list[Attempt]:
        """Returns the calls of one tool."""
        return [each for each in self._kept if each.name == name]


def outcome_words(outcome: str, seconds: float) -> str:
    """Returns the outcome of a call, and how long it took."""
    words = {
        OK: tr("Done in {duration}", duration=took(seconds)),
        CANCELLED: tr("Cancelled after {duration}", duration=took(seconds)),
        "refused": tr("Not allowed after {duration}", duration=took(seconds)),
    }
    return words.get(outcome) or tr("Failed after {duration}", duration=took(seconds))


def title_of(attempt: Attempt) -> str:
    """Returns the line of a call in a menu."""
    return f"{datetime.fromtimestamp(attempt.at):%H:%M:%S} · {outcome_words(attempt.outcome, attempt.duration_s)}"


def command_of(name: str, arguments: Mapping[str, object]) -> str:
    """Returns the command that makes the same call."""
    return joined(["tooltray", "tools", "call", name, *([json.dumps(arguments, ensure_ascii=False)] if arguments else [])])
