"""What a server needs to be told before it can be added: the fields of a form, and the server as it would be added."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from tooltray.foundation.errors import Problem

FieldKind: TypeAlias = Literal["text", "number", "boolean", "file", "folder", "choice"]
FieldValue: TypeAlias = str | float | bool | Sequence[str]
"""What a person gave for a field; several texts if the field `is_list`."""


class FormField(msgspec.Struct, frozen=True):
    """One value that a person gives. No secret is in it.

    Attributes:
        key: of the value, unique in its form.
        label: for a person; the key where nobody gave another.
        is_list: several values can be given.
        default: what the field has before anybody types; None: nothing.
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
    """A server as it would be added, to be shown before a person says yes. Nothing of it is stored yet.

    Attributes:
        name: proposed; free here.
        entry: in the spelling of `mcpServers`; a secret is a placeholder `${secret:NAME}`.
        command: the words that would be run; empty for a server elsewhere.
        url: of a server elsewhere, without secrets.
        secrets: names of variables, headers and arguments whose values go among the secrets.
        origin: where it is from, for a person.
        warnings: what a person should know before the yes.
    """

    name: str
    entry: Mapping[str, Any]
    command: tuple[str, ...] = ()
    url: str = ""
    secrets: tuple[str, ...] = ()
    origin: str = ""
    warnings: tuple[Problem, ...] = ()
