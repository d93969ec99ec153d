"""Why a server is started or stopped: a person wants it, an AI client calls it, nobody uses it, the hub begins or ends.

Above it: whoever starts and stops servers, and says so around what it does. Below it: nothing. An instance begins to start and to stop in
the context of whoever wants it.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import msgspec

PERSON, CLIENT, HUB, IDLE, SETTINGS = "person", "client", "hub", "idle", "settings"
BY_PERSON = "tooltray"
"""In the place of a client's name: the person."""


class Cause(msgspec.Struct, frozen=True):
    """
    Attributes:
        why: one of the words above.
        client: the AI client or the program that it is for; BY_PERSON for a person; empty: none.
    """

    why: str
    client: str = ""


_OF_HUB = Cause(HUB)
_cause: ContextVar[Cause] = ContextVar("cause", default=_OF_HUB)


@contextlib.contextmanager
def caused_by(why: str, client: str = "") -> Iterator[None]:
    """What is started or stopped inside is so for this reason."""
    token = _cause.set(Cause(why, client))
    try:
        yield
    finally:
        _cause.reset(token)


def cause() -> Cause:
    """Why something is started or stopped now."""
    return _cause.get()
