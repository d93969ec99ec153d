"""A server's entry while the user makes it by a form or edits it: its fields, errors, effects and test."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, TypeAlias

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.snapshots.servers import AccessSnapshot
from tooltray.foundation.verbs import JsonMapping

EntryPath = tuple[str | int, ...]
"""The keys and places in lists that lead to a value of an entry."""

FieldKind: TypeAlias = Literal["text", "number", "boolean", "file", "folder", "choice"]
FieldValue: TypeAlias = str | float | bool | Sequence[str]
"""What a person gave for a field; several texts if the field `is_list`."""


class EntryError(msgspec.Struct, frozen=True):
    """An error in an entry.

    Attributes:
        message: the reason; no value is in it.
        path: of the wrong value; empty: the whole entry.
        line: of the text, from 1; 0: not known.
    """

    message: str
    path: EntryPath = ()
    line: int = 0


class EntryText(HidesFields, frozen=True):
    """An entry as parsed from JSON.

    Attributes:
        entry: the object, even if it cannot be used; None: the text is not a JSON object.
        slips: its errors, in the order of the lines.
    """

    hidden: ClassVar = ("entry",)

    entry: Mapping[str, object] | None
    slips: tuple[EntryError, ...] = ()


class ServerUpdatePreview(msgspec.Struct, frozen=True):
    """The effect of saving another entry.

    Attributes:
        file: that would be written; absolute.
        diff: lines of the entry that begin with "+", "-" or " "; secrets masked. Empty: nothing would change.
        is_restarted: another program would run, or the same one in another way.
        revision: of the entry that would be replaced.
        problem: why it cannot be saved; None: it can.
        slips: the errors of the new entry.
    """

    file: str
    diff: tuple[str, ...] = ()
    is_restarted: bool = False
    revision: str = ""
    problem: Problem | None = None
    slips: tuple[EntryError, ...] = ()


class ToolSize(msgspec.Struct, frozen=True):
    """A tool that a tested server listed. `tokens`: of its definition; estimated if the result says so."""

    name: str
    tokens: int
    description: str = ""


class NextStep(msgspec.Struct, frozen=True):
    """An action after a failed test; see `Remedy` for its kinds."""

    kind: str
    title: str
    value: str = ""


class ServerTest(msgspec.Struct, frozen=True):
    """The result of one connection to a server; its process has ended since.

    Attributes:
        is_ok: it was initialized and listed its tools.
        took_s: from the start of its process to its list, in seconds.
        is_estimated: tokens were estimated and not counted.
        problem: why it does not work; None if it does.
        remedies: actions that may help, most promising first.
        output: the last lines of its stderr, secrets masked.
        exit_code: of a process that exited during the test; None: it did not.
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


class FormField(msgspec.Struct, frozen=True):
    """One value that the user gives. No secret is in it.

    Attributes:
        key: of the value, unique in its form.
        label: for the user; the key where the form has no other.
        is_list: several values can be given.
        default: the initial value of the field; None: it is empty.
        choices: for the kind "choice".
    """

    key: str
    label: str
    kind: FieldKind = "text"
    description: str = ""
    placeholder: str = ""
    is_required: bool = False
    is_secret: bool = False
    is_list: bool = False
    default: str | float | bool | tuple[str, ...] | None = None
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


class NewServer(msgspec.Struct, frozen=True):
    """A server as it would be added, to be shown before the user approves it. Nothing of it is stored yet.

    Attributes:
        name: proposed, and not in use.
        entry: in the spelling of `mcpServers`; a secret is a placeholder `${secret:NAME}`.
        command: the words that would be run; empty for a remote server.
        url: of a remote server, without secrets.
        secrets: names of variables, headers and arguments whose values will be stored as secrets.
        origin: its source, for the user.
        warnings: what the user should know before they approve it.
        access: what it may do, and may be chosen for it; None: that is not known yet.
    """

    name: str
    entry: JsonMapping
    command: tuple[str, ...] = ()
    url: str = ""
    secrets: tuple[str, ...] = ()
    origin: str = ""
    warnings: tuple[Problem, ...] = ()
    access: AccessSnapshot | None = None
