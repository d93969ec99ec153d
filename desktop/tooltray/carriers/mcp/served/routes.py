"""Which server of a config is at which path of its endpoint, who may use it, and where the endpoint may be open.

Above it: served_listener and served_app. Knows text alone: no HTTP library, no disk, no settings.

The rules are those of TBXark's mcp-proxy: a server is at `{base path}/{its name in the file}/`, the longest name that fits counts, and one
with tokens wants one of them as `Authorization: TOKEN` or `Authorization: Bearer TOKEN`. One rule is ours: a server without tokens is
nobody's but this machine's.
"""

import hashlib
import hmac
import posixpath
from collections.abc import Iterable
from typing import ClassVar

import msgspec

from tooltray.carriers.http_server.guard import UNAUTHORIZED, Refused, is_loopback
from tooltray.config.settings.file_server import Endpoint
from tooltray.foundation.hidden_fields import HidesFields

LOOPBACK = "127.0.0.1"
OWNER_LENGTH = 16  # of a token's hash: tells the clients of one server apart, and gives no token away
_SCHEME = "bearer "


class Route(HidesFields, frozen=True):
    """
    Attributes:
        name: of the server in the file; slashes may be in it.
        server: the same server's name here.
        needs_token: one of `tokens` has to be shown.
    """

    hidden: ClassVar = ("tokens",)

    name: str
    server: str
    needs_token: bool = False
    tokens: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Behind the base path, without a slash at its ends."""
        return posixpath.normpath(f"/{self.name}").lstrip("/")

    @property
    def owners(self) -> frozenset[str]:
        """Whom `owner` may return."""
        return frozenset(map(_owner_of, self.tokens)) if self.needs_token else frozenset({""})

    def owner(self, authorization: str | None) -> str:
        """Which client shows its token, told by the token; empty where none is needed.

        Raises:
            Refused: it shows none, or a wrong one.
        """
        if not self.needs_token:
            return ""
        shown = (authorization or "").strip()
        if shown[: len(_SCHEME)].lower() == _SCHEME:
            shown = shown[len(_SCHEME) :].strip()
        is_right = [hmac.compare_digest(_bytes(token), _bytes(shown)) for token in self.tokens]  # all of them: it always takes as long
        if not any(is_right):
            message = "this server needs one of the tokens that its config names: send it as `Authorization: Bearer TOKEN`"
            raise Refused(UNAUTHORIZED, message, headers={"WWW-Authenticate": "Bearer"})
        return _owner_of(self.tokens[is_right.index(True)])


class Address(msgspec.Struct, frozen=True):
    """Where an endpoint is to be open.

    Attributes:
        host: empty: every address of this machine.
        open_to_all: the tokenless servers that keep it on this machine although the file asks for more.
    """

    host: str
    port: int
    open_to_all: tuple[str, ...] = ()


def address_for(endpoint: Endpoint, routes: Iterable[Route]) -> Address:
    """Where an endpoint may be open: as the file says, but on this machine alone if a server in it asks for no token."""
    tokenless = tuple(route.name for route in routes if not route.needs_token)
    if tokenless and not is_loopback(endpoint.host):
        return Address(LOOPBACK, endpoint.port, tokenless)
    return Address(endpoint.host, endpoint.port)


def find(path: str, base_path: str, routes: Iterable[Route]) -> tuple[Route, str] | None:
    """The server at a path and what stands behind its name there, without slashes at its ends; None if there is none.

    Args:
        path: of a request, percent signs decoded.
    """
    if not path.startswith(f"{base_path}/"):
        return None
    wanted = path[len(base_path) :].strip("/")
    fitting = [route for route in routes if wanted == route.path or wanted.startswith(f"{route.path}/")]
    if not fitting:
        return None
    longest = max(fitting, key=lambda route: len(route.path))
    return longest, wanted[len(longest.path) :].strip("/")


def _owner_of(token: str) -> str:
    return f"served {hashlib.sha256(_bytes(token)).hexdigest()[:OWNER_LENGTH]}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")  # headers may hold bytes that are no UTF-8
