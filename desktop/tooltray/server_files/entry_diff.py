"""How an entry differs from one that a person has seen, as lines that can be read.

Above it: trust_requests. Pure. A line begins with "+", "-" or " ".
"""

import difflib
import json
from collections.abc import Mapping
from typing import Any

from tooltray.approvals.suspicion import visible

MOST_LINES = 200  # of each side; nobody reads more
LONGEST_LINE = 500  # characters
_HEADS = ("---", "+++", "@@")  # no line of an entry begins so: each begins with its indentation or a brace


def entry_diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """All lines of both, those that differ marked."""
    compared = difflib.unified_diff(_lines(before), _lines(after), lineterm="", n=MOST_LINES)
    return tuple(line[:1] + cut(visible(line[1:])) for line in compared if not line.startswith(_HEADS))


def _lines(entry: Mapping[str, Any]) -> list[str]:
    lines = json.dumps(entry, indent=2, ensure_ascii=False, sort_keys=True, default=str).splitlines()
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "…"]


def cut(line: str) -> str:
    """A line that a person may read."""
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
