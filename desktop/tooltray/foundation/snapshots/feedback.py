"""Reports of models, and the user's answers."""

import msgspec


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
