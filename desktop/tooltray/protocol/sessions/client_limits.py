"""Limits of kinds of AI clients: the longest name of a tool, and the seconds after which they give up a call.

The source is `resources/client-profiles.json`, the table of all known facts about clients; only these facts of it are read here.
"""

from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

import msgspec

NAMES_REMEMBERED = 256  # of clients; a user has a few
SAFE_NAME = 46  # characters; VS Code's 64 less its own prefix of up to 18, which is the longest of all that are known
USUAL_CALL_S = 60.0  # the official TypeScript SDK's time for every request, which most clients leave as it is


class ClientLimits(msgspec.Struct, frozen=True, rename="camel"):
    """The limits of one kind of client.

    Attributes:
        tool_name: the longest name of a tool, in characters, that the hub may give: the client's own prefix for an entry of up to 8
            characters is deducted.
        call_s: seconds without an answer after which the client gives up a call, unless its user has set another time.
        is_reset_by_progress: whether progress of a call restarts that time; None: not known.
        allows_larger_results: whether the client accepts a tool's result as large as `anthropic/maxResultSizeChars` in its definition
            allows.
    """

    tool_name: int = SAFE_NAME
    call_s: float = msgspec.field(name="callLimit", default=USUAL_CALL_S)
    is_reset_by_progress: bool | None = None
    allows_larger_results: bool = False


DEFAULT_LIMITS = ClientLimits()


class KnownLimits:
    """The limits of all known kinds of clients."""

    def __init__(self, limits: tuple[tuple[tuple[str, ...], ClientLimits], ...] = ()) -> None:
        """
        Args:
            limits: by the names that clients give themselves, in which `*` matches any characters.
        """
        self._limits = [(tuple(name.lower() for name in names), of_these) for names, of_these in limits]
        self.limits_of = lru_cache(NAMES_REMEMBERED)(self._search)  # needed for every call

    def _search(self, client: str) -> ClientLimits:
        """Returns the limits of the client with this name, whatever its case; the default ones for an unknown client."""
        name = client.lower()
        found = (limits for patterns, limits in self._limits if any(fnmatchcase(name, pattern) for pattern in patterns))
        return next(found, DEFAULT_LIMITS)


class _Named(ClientLimits, frozen=True, rename="camel"):
    names: tuple[str, ...] = ()


class _File(msgspec.Struct):
    clients: tuple[_Named, ...]


def read_client_limits(path: Path) -> KnownLimits:
    """Returns the limits that are part of Tooltray.

    Raises:
        OSError, ValueError: the installation is broken.
    """
    clients = msgspec.json.decode(path.read_bytes(), type=_File).clients
    return KnownLimits(tuple((each.names, each) for each in clients))
