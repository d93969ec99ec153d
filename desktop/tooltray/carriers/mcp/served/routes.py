"""Which server of a config is at which path of its endpoint, who may use it, and where the endpoint may be open.

The rules are the same as in TBXark's mcp-proxy: a server is at `{base path}/{its name in the file}/`, the longest name that fits counts,
and a server with tokens wants one of them as `Authorization: TOKEN` or `Authorization: Bearer TOKEN`. One rule is ours: a server without
tokens can be reached only from this machine.
"""

import hashlib
import hmac
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

import msgspec

from tooltray.carriers.http_server.guard import UNAUTHORIZED, Refused, is_loopback
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.expansion import fill_text
from tooltray.config.settings.file_server import Endpoint, FileEntry
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase

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
        """Path below the base path, without a slash at its ends."""
        return posixpath.normpath(f"/{self.name}").lstrip("/")

    @property
    def owners(self) -> frozenset[str]:
        """What `owner` may return."""
        return frozenset(map(_owner_of, self.tokens)) if self.needs_token else frozenset({""})

    def owner(self, authorization: str | None) -> str:
        """Returns the name of the client that shows its token; empty where no token is needed.

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
    """Returns where an endpoint may be open: as the file says, but only on this machine if a server in it asks for no token."""
    tokenless = tuple(route.name for route in routes if not route.needs_token)
    if tokenless and not is_loopback(endpoint.host):
        return Address(LOOPBACK, endpoint.port, tokenless)
    return Address(endpoint.host, endpoint.port)


def find(path: str, base_path: str, routes: Iterable[Route]) -> tuple[Route, str] | None:
    """Returns the server at a path and what follows its name there, without slashes at its ends; None if no server fits.

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


PLACE = "authTokens"


class _Filled(HidesFields, frozen=True):
    hidden: ClassVar = ("tokens",)

    tokens: tuple[str, ...]
    problem: Problem | None


class ServedTokens:
    """The tokens of a config's servers, with the secrets that they name filled in.

    A token whose secret cannot be read opens nothing. What was read stays until a secret changes, so that no keyring is asked whenever a
    file is read. Belongs to the engine's loop.
    """

    def __init__(self, secrets: SecretStore, environ: Mapping[str, str]) -> None:
        """
        Args:
            environ: what variables in tokens are filled in from.
        """
        self._secrets, self._environ = secrets, environ
        self._known: dict[tuple[str, tuple[str, ...]], _Filled] = {}
        self._changes = self._known_since = 0

    def forget(self) -> None:
        """Drops the secrets, which are read again at the next check: one of them has changed."""
        self._changes += 1

    async def look(self, entries: Iterable[FileEntry]) -> None:
        """Reads the secrets that are not known yet."""
        wanted = sorted({(entry.name, entry.secret_tokens) for entry in entries if entry.secret_tokens})
        while True:
            now = self._changes
            kept = self._known if self._known_since == now else {}
            known = {key: kept.get(key) or await self._filled(*key) for key in wanted}
            if now == self._changes:
                break
        self._known, self._known_since = known, now

    def of(self, entry: FileEntry) -> tuple[str, ...]:
        """Returns all tokens of a server that are known; empty does not mean that the server needs none."""
        filled = self._known.get((entry.name, entry.secret_tokens))
        return tuple(dict.fromkeys((*entry.tokens, *(filled.tokens if filled else ()))))

    @property
    def problems(self) -> Iterator[Problem]:
        """Why some tokens open nothing."""
        return (filled.problem for filled in self._known.values() if filled.problem)

    async def _filled(self, server: str, tokens: tuple[str, ...]) -> _Filled:
        found: list[str] = []
        problem: Problem | None = None
        for token in tokens:
            try:
                text = await fill_text(token, PLACE, secrets=self._secrets, environ=self._environ, server=server)
                found += [text.strip()] if text.strip() else []
            except TooltrayError as error:
                title = Phrase("a token of '{server}' opens nothing", server=server)
                problem = Problem(title, f"{error.problem.title}: {error.problem.message}".removesuffix(": "), error.problem.hint)
        return _Filled(tuple(found), problem)
