"""Why a server is started or stopped: the user wants it, an AI client calls it, it was idle for too long, the settings changed, or Tooltray
starts or ends. An instance starts and stops in the context of its cause.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import msgspec

PERSON, CLIENT, HUB, IDLE, SETTINGS = "person", "client", "hub", "idle", "settings"
BY_PERSON = "tooltray"
"""Takes the place of a client's name when the user is the cause."""


class Cause(msgspec.Struct, frozen=True):
    """The reason for a start or a stop.

    Attributes:
        why: one of the words above.
        client: the AI client or the program that it is for; BY_PERSON for the user; empty: none.
    """

    why: str
    client: str = ""


_OF_HUB = Cause(HUB)
_cause: ContextVar[Cause] = ContextVar("cause", default=_OF_HUB)


@contextlib.contextmanager
def caused_by(why: str, client: str = "") -> Iterator[None]:
    """Marks what is started or stopped inside with this reason."""
    token = _cause.set(Cause(why, client))
    try:
        yield
    finally:
        _cause.reset(token)


def cause() -> Cause:
    """Returns the reason for a start or stop at this moment."""
    return _cause.get()
