"""Questions to the user: forms, pages and sign-ins of servers, and reports of models."""

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


class FeedbackAttachment(msgspec.Struct, frozen=True):
    """A picture or a file in the user's answer."""

    name: str
    mime_type: str
    data: str = ""  # base64; empty where `path` says where it is
    path: str = ""  # of a file that is too large to be sent


class FeedbackSnapshot(msgspec.Struct, frozen=True):
    """A model's report that waits for the user's answer."""

    id: str
    client: str
    project_path: str  # empty where none is known
    project_name: str
    summary: str  # Markdown
    asked_at: float  # unix seconds
    ends_at: float  # unix seconds
    is_client_there: bool = True  # False: no call waits for it now, and an answer is kept for when its client asks again


class FeedbackEntry(msgspec.Struct, frozen=True):
    """One report of a project's history, and its answer."""

    id: str
    project_path: str
    project_name: str
    client: str
    summary: str  # Markdown
    asked_at: float  # unix seconds
    outcome: str  # "answered", "dismissed", "expired", "withdrawn" or "waiting"
    text: str = ""
    attachments: tuple[str, ...] = ()  # names
    answered_at: float = 0.0  # unix seconds
