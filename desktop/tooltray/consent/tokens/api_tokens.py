"""The tokens of the REST interface, for other programs: the default one, named ones with a scope and perhaps an expiry, and their trust.

The default token is made on first use, and can be shown again, so it is stored in plain text in a file that only the user can read. Named
tokens are shown once and stored as hashes. The scope that a verb needs is declared with the verb (foundation/verbs).
Their file does not decide whether a token is trusted, since any program of the user could edit
it: `isTrusted` there only means that the secrets may trust it (see TrustedTokens).
"""

import asyncio
import hashlib
import hmac
import os
import secrets
import stat
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Literal, get_args

import msgspec

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretMissing
from tooltray.consent.kept_file import Hex, KeptFile, UnixTime
from tooltray.foundation.errors import NotFound, Problem, TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.moments import LAST_TIME_S
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.clients import ApiTokenSnapshot, Scope

TOKEN_BYTES = 32  # 256 bits cannot be guessed
MAX_NAME_LENGTH = 64
PREFIX = "tooltray_api_"  # lets a person or a secret scanner recognise the token
MOST_READ_BYTES = 1024  # bytes; a token has 56, and Tooltray writes no larger file
OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO

_TOKEN = lazy_pattern(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


class ApiToken:
    """The token of one home. Methods may be called from any thread; the constructor, `value`, `rotate` and `remove` block on the disk.

    A token that other users could have read is not accepted: `problem` reports it, and `value` makes a new one.

    Attributes:
        problem: the problem with the stored token, if there is one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._token = ""
        self.problem: Problem | None = None
        try:
            self._token = _read(path)
        except FileNotFoundError:
            pass
        except ValueError as error:
            self.problem = _unusable(f"{path}: {error}")
        except OSError as error:
            self.problem = _unusable(f"{path}: {error.strerror or error}")

    @property
    def known(self) -> frozenset[str]:
        """The token, which must be masked in logs; empty without one."""
        return frozenset({self._token} - {""})

    def value(self) -> str:
        """Returns the token, which is made at the first call.

        Raises:
            TooltrayError: it cannot be stored.
        """
        with self._lock:
            return self._token or self._make()

    def rotate(self) -> str:
        """Replaces the token; the old one is invalid from then on.

        Raises:
            TooltrayError: the new one cannot be stored; the old one stays valid.
        """
        with self._lock:
            return self._make()

    def remove(self) -> None:
        """Deletes the token; `value` makes a new one afterwards.

        Raises:
            TooltrayError: its file cannot be deleted; the token stays valid.
        """
        with self._lock:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                message = f"{self._path}: {error.strerror or error}"
                raise TooltrayError(Phrase("the token of the REST interface cannot be revoked"), message, Phrase("No changes.")) from None
            self._token = ""

    def is_right(self, token: str) -> bool:
        """Returns whether a text is the token, in constant time; never blocks."""
        return hmac.compare_digest(digest_of(token), digest_of(self._token)) and bool(self._token)

    def _make(self) -> str:
        token = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        try:
            write_atomically(self._path, f"{token}\n".encode())
        except OSError as error:
            message = f"{self._path}: {error.strerror or error}"
            raise TooltrayError(Phrase("the token of the REST interface cannot be kept"), message, Phrase("No changes.")) from None
        self._token, self.problem = token, None
        return token


def _read(path: Path) -> str:
    """Reads the token from its file.

    Raises:
        OSError: the file cannot be read or does not exist.
        ValueError: the token must not be used; the text says why.
    """
    with open(path, "rb", opener=open_regular) as file:
        status = os.fstat(file.fileno())
        text = file.read(MOST_READ_BYTES).decode("ascii", "replace").strip()
    if sys.platform != "win32" and (status.st_mode & OF_OTHERS or status.st_uid != os.getuid()):
        raise ValueError("other users of this machine could read it")
    if not _TOKEN.fullmatch(text):
        raise ValueError("its content is not a token")
    return text


def _unusable(message: str) -> Problem:
    title = Phrase("the token of the REST interface is invalid, so no program has access")
    return Problem(title, message, Phrase("Make another one, and give it to your programs: tooltray http api token"))


def digest_of(token: str) -> str:
    """Returns the hash of a token, by which it is recognised without being stored; with 256 random bits a plain one is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_name(text: str) -> bool:
    """Returns whether a text can be the name of the owner of a token."""
    return 0 < len(text) <= MAX_NAME_LENGTH and text.isprintable() and text == text.strip()


def shown(name: str) -> str:
    """Returns a given name, harmless and bounded, for an error."""
    return "".join(character if character.isprintable() else "?" for character in name[:MAX_NAME_LENGTH])


SCOPES: tuple[Scope, ...] = get_args(Scope)
"""The scopes of tokens in ascending order, each including the ones before: read, call tools, manage."""
DEFAULT_NAME = "default"
"""The name of the default token; its scope is "manage", and it is not trusted."""
MOST_TOKENS = 200  # more programs than any user has; every request is compared with each token
LARGEST_BYTES = 256 * 1024  # of the file


class _Kept(msgspec.Struct, rename="camel", frozen=True):
    sha256: Hex
    scope: Scope
    created_at: UnixTime
    expires_at: UnixTime | None = None
    is_ended: bool = False  # was seen expired: setting the clock back does not make it valid again
    is_trusted: bool = False


class _File(msgspec.Struct):
    version: Literal[1] = 1
    tokens: dict[str, _Kept] = {}


class TokenHolder(msgspec.Struct, frozen=True):
    """A program with a valid token of the REST interface.

    Attributes:
        digest: hash of its token, by which trust is stored; empty for the default token.
        may_be_trusted: whether to look among the secrets if the token is trusted.
    """

    name: str
    scope: Scope
    digest: str = ""
    may_be_trusted: bool = False

    def may(self, scope: Scope) -> bool:
        """Returns whether the token's scope includes another one."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class ApiTokens:
    """The tokens of one home. Methods may be called from any thread; those that create, revoke or save tokens block on the disk.

    Attributes:
        default: the default token.
    """

    def __init__(
        self,
        default: ApiToken,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            clock: wall clock in unix seconds, which can be set back.
            elapsed: monotonic clock in seconds.
        """
        self.default, self._clock, self._elapsed = default, clock, elapsed
        self._lock = threading.Lock()
        self._file = KeptFile(
            path,
            _File,
            most_bytes=LARGEST_BYTES,
            unread=Phrase("the named tokens of the REST interface cannot be read, so none of them opens it"),
            remedy="Make new ones: tooltray http api token NAME",
            unsaved=Phrase("the tokens of the REST interface cannot be saved"),
        )
        self._tokens = self._file.content.tokens
        self._is_saved = True
        self._began = (clock(), elapsed())

    @property
    def problems(self) -> list[Problem]:
        """The problems with the stored tokens."""
        return [problem for problem in (self.default.problem, self._file.problem) if problem]

    @property
    def is_saved(self) -> bool:
        """False after a token was seen expired: `save` must then be called, so that it stays expired."""
        return self._is_saved

    @property
    def has_trusted(self) -> bool:
        """Whether a valid token was created as a trusted one."""
        return any(kept.is_trusted and not self._is_over(kept) for kept in self._tokens.values())

    def list(self) -> list[ApiTokenSnapshot]:
        """Returns all tokens, the default one first if there is one."""
        found = [ApiTokenSnapshot(DEFAULT_NAME, "manage", is_default=True)] if self.default.known else []
        for name, kept in sorted(self._tokens.items()):
            found.append(ApiTokenSnapshot(name, kept.scope, kept.created_at, kept.expires_at, self._is_over(kept), kept.is_trusted))
        return found

    def digest(self, name: str) -> str:
        """Returns the hash of a named token; empty if no token has this name."""
        kept = self._tokens.get(name)
        return kept.sha256 if kept else ""

    def holder(self, token: str) -> TokenHolder | None:
        """Returns the holder of a token, in constant time; None for an invalid or expired one. Never blocks."""
        found = TokenHolder(DEFAULT_NAME, "manage") if self.default.is_right(token) else None
        given = digest_of(token).encode()
        for name, kept in list(self._tokens.items()):
            if hmac.compare_digest(kept.sha256.encode(), given) and not self._is_over(kept):
                found = TokenHolder(name, kept.scope, kept.sha256, kept.is_trusted)
        return found

    def is_current(self, holder: TokenHolder) -> bool:
        """Returns whether the token of a program is still valid."""
        if not holder.digest:
            return True  # rotating or removing the default token ends its connections
        kept = self._tokens.get(holder.name)
        return kept is not None and kept.sha256 == holder.digest and not self._is_over(kept)

    def create(self, name: str, scope: Scope, *, lasts_s: float | None = None, is_trusted: bool = False) -> str:
        """Creates a token; an earlier one with this name becomes invalid.

        Args:
            lasts_s: lifetime in seconds; None for no expiry.

        Returns:
            The token, which cannot be shown again.

        Raises:
            TooltrayError: the name, the scope or the lifetime is invalid, or the file cannot be written.
        """
        token = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            self._check(name, scope, lasts_s)
            now = self._now()
            kept = _Kept(digest_of(token), scope, now, None if lasts_s is None else now + lasts_s, False, is_trusted)
            self._write({**self._tokens, name: kept})
        return token

    def revoke(self, name: str) -> None:
        """Revokes a token.

        Raises:
            TooltrayError: no token has this name, or the file cannot be written.
        """
        with self._lock:
            if name == DEFAULT_NAME and self.default.known:
                self.default.remove()
            elif name in self._tokens:
                self._write({other: kept for other, kept in self._tokens.items() if other != name})
            else:
                raise NotFound(
                    Phrase("token '{name}' not found", name=shown(name)), hint=Phrase("See which there are: tooltray http api tokens")
                )

    def distrust(self) -> tuple[str, ...]:
        """Marks all tokens as not trusted; returns the hashes of those that were.

        Raises:
            TooltrayError: the file cannot be written.
        """
        with self._lock:
            trusted = tuple(kept.sha256 for kept in self._tokens.values() if kept.is_trusted)
            if trusted:
                self._write({name: msgspec.structs.replace(kept, is_trusted=False) for name, kept in self._tokens.items()})
        return trusted

    def save(self) -> None:
        """Stores which tokens were seen expired.

        Raises:
            TooltrayError: the file cannot be written; they stay expired as long as this hub runs.
        """
        with self._lock:
            if not self._is_saved:
                self._write(self._tokens)

    def _is_over(self, kept: _Kept) -> bool:
        if kept.is_ended or kept.expires_at is None:
            return kept.is_ended
        if self._now() < kept.expires_at:
            return False
        ended = msgspec.structs.replace(kept, is_ended=True)
        self._tokens = {name: ended if each is kept else each for name, each in self._tokens.items()}
        self._is_saved = False
        return True

    def _now(self) -> float:
        """Returns unix seconds that never run back while the hub runs, even if the clock is set back."""
        wall, elapsed = self._began
        return max(self._clock(), wall + self._elapsed() - elapsed)

    def _check(self, name: str, scope: str, lasts_s: float | None) -> None:
        if not is_name(name) or name == DEFAULT_NAME:
            reason = Phrase(
                "a name has 1 to {max_name_length} letters, digits, signs and inner spaces, and is not '{default_name}'",
                max_name_length=MAX_NAME_LENGTH,
                default_name=DEFAULT_NAME,
            )
            raise TooltrayError(Phrase("'{name}' cannot be the name of a token", name=shown(name)), reason, Phrase("Choose another name."))
        if scope not in SCOPES:
            raise TooltrayError(
                Phrase("scope '{scope}' not found", scope=shown(scope)), hint=Phrase("Choose one of {scopes}.", scopes=", ".join(SCOPES))
            )
        if lasts_s is not None and not 0 < lasts_s < LAST_TIME_S - self._now():
            raise TooltrayError(
                Phrase("invalid end of a token"), Phrase("its duration must be more than 0"), Phrase("Choose another time.")
            )
        if len(self._tokens) >= MOST_TOKENS and name not in self._tokens:
            raise TooltrayError(
                Phrase("there are {most_tokens} tokens already", most_tokens=MOST_TOKENS),
                hint=Phrase("Revoke unused ones: tooltray http api revoke NAME"),
            )

    def _write(self, tokens: dict[str, _Kept]) -> None:
        self._file.write(_File(tokens=tokens))
        self._tokens, self._is_saved = tokens, True


TRUSTED_SECRET = "tooltray/trusted tokens"  # no server's secret has a blank after the slash

Kept = Mapping[str, float | None]
"""Expiry in unix seconds by a token's hash; None for no expiry. Stored here, too, as the tokens' file could be edited."""


class TrustedTokens:
    """The trust in tokens, that is, which of them may consent in the user's place. Belongs to one event loop.

    It is among the secrets, since a file could be edited by any program. They are read only when a token that was created as trusted needs
    it, so that no keyring is opened for other tokens. If they cannot be reached, a token is trusted only as long as this hub runs.
    """

    def __init__(self, secrets: SecretStore, *, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._secrets, self._clock = secrets, clock
        self._lock = asyncio.Lock()
        self._of_this_run: dict[str, float | None] = {}

    async def add(self, digest: str, ends_at: float | None = None) -> bool:
        """Trusts a token; returns whether that outlives this hub."""
        async with self._lock:
            try:
                await self._keep({**await self._kept(), digest: ends_at})
            except TooltrayError:
                self._of_this_run[digest] = ends_at
                return False
        return self._secrets.kind != "memory"

    async def remove(self, digests: Collection[str]) -> None:
        """Withdraws the trust in tokens.

        Raises:
            TooltrayError: the secrets cannot be changed.
        """
        async with self._lock:
            self._of_this_run = _without(self._of_this_run, digests)
            kept = await self._kept() if digests else {}
            if not kept.keys().isdisjoint(digests):
                await self._keep(_without(kept, digests))

    async def has(self, digest: str) -> bool:
        """Returns whether a token is trusted; False if the secrets cannot be reached."""
        if digest in self._of_this_run:
            return self._lasts(self._of_this_run[digest])
        async with self._lock:
            try:
                kept = await self._kept()
            except TooltrayError:
                return False
        return digest in kept and self._lasts(kept[digest])

    def _lasts(self, ends_at: float | None) -> bool:
        return ends_at is None or self._clock() < ends_at

    async def _kept(self) -> Kept:
        """Reads the stored trust.

        Raises:
            TooltrayError: the secrets cannot be reached.
        """
        try:
            text = await self._secrets.get(TRUSTED_SECRET)
            return msgspec.json.decode(text, type=dict[str, float | None])
        except (SecretMissing, msgspec.DecodeError):
            return {}

    async def _keep(self, digests: Kept) -> None:
        await self._secrets.set(TRUSTED_SECRET, msgspec.json.encode(digests).decode(), parts=())


def _without(kept: Kept, digests: Collection[str]) -> dict[str, float | None]:
    return {digest: ends_at for digest, ends_at in kept.items() if digest not in digests}
