"""A server's entry while a person edits it: what is wrong with it, what would change, and what a test of it gave."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.hidden_fields import HidesFields

EntryPath = tuple[str | int, ...]
"""The keys and places in lists that lead to a value of an entry."""


class EntrySlip(msgspec.Struct, frozen=True):
    """Something that keeps an entry from being used.

    Attributes:
        message: why; no value is in it.
        path: where; empty: the whole.
        line: of the text, from 1; 0: not known.
    """

    message: str
    path: EntryPath = ()
    line: int = 0


class EntryText(HidesFields, frozen=True):
    """What the JSON of an entry comes to.

    Attributes:
        entry: what stands there, also where it cannot be used; None: it is no JSON object.
        slips: what is wrong, in the order of the lines.
    """

    hidden: ClassVar = ("entry",)

    entry: Mapping[str, object] | None
    slips: tuple[EntrySlip, ...] = ()


class ServerUpdatePreview(msgspec.Struct, frozen=True):
    """What saving another entry would do.

    Attributes:
        file: which would be written; absolute.
        diff: lines of the entry that begin with "+", "-" or " "; secrets masked. Empty: nothing would change.
        is_restarted: another program would run, or the same one in another way.
        revision: of the entry that would be replaced.
        problem: why it cannot be saved; None: it can.
        slips: what is wrong with the new entry.
    """

    file: str
    diff: tuple[str, ...] = ()
    is_restarted: bool = False
    revision: str = ""
    problem: Problem | None = None
    slips: tuple[EntrySlip, ...] = ()


class ToolSize(msgspec.Struct, frozen=True):
    """A tool that a server listed when it was tested. `tokens`: of its definition; estimated if the result says so."""

    name: str
    tokens: int
    description: str = ""


class NextStep(msgspec.Struct, frozen=True):
    """What can be done about a test that failed; see `Remedy` for its kinds."""

    kind: str
    title: str
    value: str = ""


class ServerTest(msgspec.Struct, frozen=True):
    """What one connection to a server gave; its process has ended since.

    Attributes:
        is_ok: it greeted and listed its tools.
        took_s: from the start of its process to its list, in seconds.
        is_estimated: tokens were estimated and not counted.
        problem: why it does not work; None if it does.
        remedies: what can be done about that, most promising first.
        output: the last lines of its stderr, secrets masked.
        exit_code: of a process that ended by itself; None: it did not.
    """

    server: str
    is_ok: bool
    took_s: float = 0.0
    tools: tuple[ToolSize, ...] = ()
    tokens: int = 0
    is_estimated: bool = False
    version: str = ""
    problem: Problem | None = None
    remedies: tuple[NextStep, ...] = ()
    output: tuple[str, ...] = ()
    exit_code: int | None = None
