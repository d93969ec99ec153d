"""What kinds of AI clients bear: how long a tool's name may be for them, and after how many seconds they give up a call.

Above it: what names tools for a client, and the sessions, which tell a client in time that its call still runs. Below it:
`resources/client-profiles.json`, the table of all that is known of clients, of which nothing else is read here. Knows no session.
"""

from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

import msgspec

NAMES_REMEMBERED = 256  # of clients; a person has a few
SAFE_NAME = 46  # characters; VS Code's 64 less its own prefix of up to 18, which is the longest of all that are known
USUAL_CALL_S = 60.0  # the official TypeScript SDK's time for every request, which most clients leave as it is


class ClientLimits(msgspec.Struct, frozen=True, rename="camel"):
    """Of one kind of client.

    Attributes:
        tool_name: the longest name of a tool, in characters, that the hub may give: the client's own prefix for an entry of up to 8
            characters is deducted.
        call_s: seconds without an answer after which it gives up a call, unless its person has set another time.
        is_reset_by_progress: whether news of a call begin that time anew; None: not known.
        allows_larger_results: it lets the result of a tool be as large as `anthropic/maxResultSizeChars` in its definition says.
    """

    tool_name: int = SAFE_NAME
    call_s: float = msgspec.field(name="callLimit", default=USUAL_CALL_S)
    is_reset_by_progress: bool | None = None
    allows_larger_results: bool = False


DEFAULT_LIMITS = ClientLimits()


class KnownLimits:
    """Those of all kinds of clients that are known."""

    def __init__(self, limits: tuple[tuple[tuple[str, ...], ClientLimits], ...] = ()) -> None:
        """
        Args:
            limits: of clients by how they name themselves, in which `*` stands for any characters.
        """
        self._limits = [(tuple(name.lower() for name in names), of_these) for names, of_these in limits]
        self.limits_of = lru_cache(NAMES_REMEMBERED)(self._search)  # it is asked for with every call

    def _search(self, client: str) -> ClientLimits:
        """Those of a client that names itself so, whatever the case; the usual ones where it is not known."""
        name = client.lower()
        found = (limits for patterns, limits in self._limits if any(fnmatchcase(name, pattern) for pattern in patterns))
        return next(found, DEFAULT_LIMITS)


class _Named(ClientLimits, frozen=True, rename="camel"):
    names: tuple[str, ...] = ()


class _File(msgspec.Struct):
    clients: tuple[_Named, ...]


def read_client_limits(path: Path) -> KnownLimits:
    """Those that come with Tooltray.

    Raises:
        OSError, ValueError: the installation is broken.
    """
    clients = msgspec.json.decode(path.read_bytes(), type=_File).clients
    return KnownLimits(tuple((each.names, each) for each in clients))
