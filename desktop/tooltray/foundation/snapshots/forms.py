"""The values that a server needs before it can be added, as fields of a form, and the server as it would be added."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from tooltray.foundation.errors import Problem

FieldKind: TypeAlias = Literal["text", "number", "boolean", "file", "folder", "choice"]
FieldValue: TypeAlias = str | float | bool | Sequence[str]
"""What a person gave for a field; several texts if the field `is_list`."""


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
    """

    name: str
    entry: Mapping[str, Any]
    command: tuple[str, ...] = ()
    url: str = ""
    secrets: tuple[str, ...] = ()
    origin: str = ""
    warnings: tuple[Problem, ...] = ()
