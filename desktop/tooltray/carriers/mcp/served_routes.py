"""The paths and tokens of a config's servers at their endpoint, and where the endpoint may be open.

The rules are the same as in TBXark's mcp-proxy: a server is at `{base path}/{its name in the file}/`, the longest matching name wins, and a
server with tokens requires one of them as `Authorization: TOKEN` or `Authorization: Bearer TOKEN`. Tooltray adds one rule: a server without
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
OWNER_LENGTH = 16  # characters of a token's hash: they distinguish the clients of one server without revealing a token
_SCHEME = "bearer "


class Route(HidesFields, frozen=True):
    """
    Attributes:
        name: of the server in the file; may contain slashes.
        server: the same server's name in the hub.
        needs_token: a request must have one of `tokens`.
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
        """The values that `owner` may return."""
        return frozenset(map(_owner_of, self.tokens)) if self.needs_token else frozenset({""})

    def owner(self, authorization: str | None) -> str:
        """Returns the name of the client whose token is in the request; empty if no token is needed.

        Raises:
            Refused: the token is missing or wrong.
        """
        if not self.needs_token:
            return ""
        shown = (authorization or "").strip()
        if shown[: len(_SCHEME)].lower() == _SCHEME:
            shown = shown[len(_SCHEME) :].strip()
        is_right = [hmac.compare_digest(_bytes(token), _bytes(shown)) for token in self.tokens]  # all of them, in constant time
        if not any(is_right):
            message = "this server requires one of the tokens in its config: send it as `Authorization: Bearer TOKEN`"
            raise Refused(UNAUTHORIZED, message, headers={"WWW-Authenticate": "Bearer"})
        return _owner_of(self.tokens[is_right.index(True)])


class Address(msgspec.Struct, frozen=True):
    """Where an endpoint is to be open.

    Attributes:
        host: empty for every address of this machine.
        open_to_all: servers without tokens, because of which it is open only on this machine although the file asks for more.
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
    """Returns the server at a path, and the rest of the path without slashes at its ends; None if no server matches.

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
    return text.encode("utf-8", "surrogateescape")  # headers may have bytes that are not UTF-8


PLACE = "authTokens"


class _Filled(HidesFields, frozen=True):
    hidden: ClassVar = ("tokens",)

    tokens: tuple[str, ...]
    problem: Problem | None


class ServedTokens:
    """The tokens of a config's servers, with the secrets that they name filled in.

    A token whose secret cannot be read gives no access. Read secrets are cached until one changes, so that reading a file does not ask the
    keyring each time. Belongs to the engine's loop.
    """

    def __init__(self, secrets: SecretStore, environ: Mapping[str, str]) -> None:
        """
        Args:
            environ: values for variables in tokens.
        """
        self._secrets, self._environ = secrets, environ
        self._known: dict[tuple[str, tuple[str, ...]], _Filled] = {}
        self._changes = self._known_since = 0

    def forget(self) -> None:
        """Marks the cached secrets as outdated, since one has changed; they are read again at the next check."""
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
        """Returns all known tokens of a server; if empty, the server may still need a token."""
        filled = self._known.get((entry.name, entry.secret_tokens))
        return tuple(dict.fromkeys((*entry.tokens, *(filled.tokens if filled else ()))))

    @property
    def problems(self) -> Iterator[Problem]:
        """The reasons why some tokens give no access."""
        return (filled.problem for filled in self._known.values() if filled.problem)

    async def _filled(self, server: str, tokens: tuple[str, ...]) -> _Filled:
        found: list[str] = []
        problem: Problem | None = None
        for token in tokens:
            try:
                text = await fill_text(token, PLACE, secrets=self._secrets, environ=self._environ, server=server)
                found += [text.strip()] if text.strip() else []
            except TooltrayError as error:
                title = Phrase("a token of '{server}' gives no access", server=server)
                problem = Problem(title, f"{error.problem.title}: {error.problem.message}".removesuffix(": "), error.problem.hint)
        return _Filled(tuple(found), problem)
