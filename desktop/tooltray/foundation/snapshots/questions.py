"""What a server asks the person: answers to a form, a page to be opened, a sign-in."""

from enum import Enum

import msgspec


class SignInSnapshot(msgspec.Struct, frozen=True):
    """A sign-in that waits for the person's browser."""

    server: str
    url: str  # the page of the authorization server; to be opened by whoever asked
    ends_at: float  # unix seconds


class AnswerKind(Enum):
    """What a field of a server's form takes."""

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
    """One answer of a form. Texts are the server's, made harmless."""

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
    """A question that a server asks the person. Texts are the server's, made harmless.

    Attributes:
        attempt: of a call that the person makes by hand, during which it is asked; empty: it belongs to no such call.
    """

    id: str
    server: str
    mode: str  # "form" or "url"
    message: str
    ends_at: float  # unix seconds
    url: str = ""  # to be opened by the person, not by us
    fields: tuple[ElicitationField, ...] = ()
    attempt: str = ""
