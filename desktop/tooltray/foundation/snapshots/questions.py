"""Questions of servers to the user: a form, a page to be opened, a sign-in."""

from enum import Enum

import msgspec


class SignInSnapshot(msgspec.Struct, frozen=True):
    """A sign-in that waits for the user's browser."""

    server: str
    url: str  # the page of the authorization server; to be opened by the caller
    ends_at: float  # unix seconds


class AnswerKind(Enum):
    """The type of a form field's value."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"  # one of its options
    CHOICES = "choices"  # any of them


class ElicitationOption(msgspec.Struct, frozen=True):
    value: str  # as the server wrote it, and as it goes back
    title: str


class ElicitationField(msgspec.Struct, frozen=True):
    """One field of a form. Texts are the server's, cleaned for display."""

    name: str  # as the server wrote it
    title: str
    kind: AnswerKind
    description: str = ""
    is_required: bool = False
    default: str | float | bool | tuple[str, ...] | None = None  # the server's own proposal
    options: tuple[ElicitationOption, ...] = ()
    format: str = ""  # of a text: "email", "uri", "date", "date-time"
    least: float | None = None  # of a number its value, of a text its length, of choices how many
    most: float | None = None


class ElicitationSnapshot(msgspec.Struct, frozen=True):
    """A server's question to the user (an MCP elicitation). Texts are the server's, cleaned for display.

    Attributes:
        attempt: of the manual call during which the server asks; empty: another call, or none.
    """

    id: str
    server: str
    mode: str  # "form" or "url"
    message: str
    ends_at: float  # unix seconds
    url: str = ""  # to be opened by the person, not by us
    fields: tuple[ElicitationField, ...] = ()
    attempt: str = ""
