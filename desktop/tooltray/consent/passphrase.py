"""The passphrase that confirms what commands want to allow, where no window can be asked.

The home has a salted slow hash of it. Each wrong passphrase costs a try. After `FREE_TRIES` wrong ones in a row every further try has to
wait, longer each time, even after a restart.
"""

import hashlib
import hmac
import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from tooltray.consent.kept_file import Hex, UnixTime
from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.foundation.files.atomic_file import read_own, write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import PassphraseState

logger = logging.getLogger(__name__)
SHORTEST = 8  # characters
LONGEST = 1024
FREE_TRIES = 5
FIRST_WAIT_S, LONGEST_WAIT_S = 30.0, 3600.0  # seconds, doubled with each wrong try: a guesser gets about thirty tries a day
COST, BLOCK, PARALLEL = 2**15, 8, 1  # of scrypt: 32 MiB, a tenth of a second
MOST_MEMORY_BYTES = 64 * 2**20
SALT_BYTES = 16
LARGEST_BYTES = 4096
MOST_DOUBLINGS = 20  # of the wait; the longest one is reached long before
WHERE_TO_LOOK = Phrase("See `tooltray passphrase --help`")


class _Kept(msgspec.Struct, rename="camel"):
    """The content of the file.

    Attributes:
        wrong: how many were wrong in a row.
        not_before: until then every passphrase is refused unchecked; unix seconds.
    """

    salt: Hex
    hash: Hex
    cost: int
    wrong: Annotated[int, msgspec.Meta(ge=0)] = 0
    not_before: UnixTime = 0.0
    version: Literal[1] = 1


class Passphrase:
    """The passphrase of one home. Its methods block for a tenth of a second: call them in a thread, one at a time."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time, *, cost: int = COST) -> None:
        """
        Args:
            now: unix seconds.
            cost: of the hash of a new passphrase, a power of two.
        """
        self._path, self._now, self._cost = path, now, cost

    @property
    def is_set(self) -> bool:
        """Whether a passphrase is set; True also for a damaged file, with which no passphrase is right."""
        return os.path.lexists(self._path)

    def state(self) -> PassphraseState:
        """
        Raises:
            TooltrayError: the file cannot be read.
        """
        if not self.is_set:
            return PassphraseState(False, FREE_TRIES)
        kept = self._read()
        return PassphraseState(True, max(FREE_TRIES - kept.wrong, 0), self._waits_s(kept))

    def set(self, passphrase: str) -> None:
        """Replaces the passphrase; the caller has made sure that the user wants that.

        Raises:
            TooltrayError: it is too short or too long, or cannot be written.
        """
        if not SHORTEST <= len(passphrase) <= LONGEST:
            message = Phrase("it needs {least} characters at least, and {most} at most", least=SHORTEST, most=LONGEST)
            raise TooltrayError(Phrase("This passphrase cannot be used"), message)
        salt = os.urandom(SALT_BYTES)
        self._write(_Kept(salt.hex(), _hashed(passphrase, salt, self._cost).hex(), self._cost))

    def remove(self) -> None:
        """
        Raises:
            TooltrayError: the passphrase's file cannot be removed.
        """
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise _unusable(self._path, error.strerror or str(error)) from None

    def mark(self) -> str:
        """Returns the salt, a mark that changes when another passphrase is set.

        Raises:
            TooltrayError: the file cannot be read.
        """
        return self._read().salt

    def check(self, given: str) -> str:
        """Compares a typed passphrase with the stored one; returns the `mark` of the stored one.

        Raises:
            Denied: the passphrase is wrong, or too many were wrong; the error says when the next try is possible.
            TooltrayError: the file cannot be read or written.
        """
        kept = self._read()
        if waits_s := self._waits_s(kept):
            raise _must_wait(waits_s)
        self._write(_counted(kept, self._now()))  # first, so that ending the hub meanwhile gives no further try
        if len(given) <= LONGEST and hmac.compare_digest(_hashed(given, bytes.fromhex(kept.salt), kept.cost).hex(), kept.hash):
            self._write(msgspec.structs.replace(kept, wrong=0, not_before=0.0))
            return kept.salt
        logger.warning("a wrong passphrase was given (%d in a row)", kept.wrong + 1)
        left = FREE_TRIES - kept.wrong - 1
        raise Denied(Phrase("This is not the passphrase"), _tries_left(left), WHERE_TO_LOOK)

    def _waits_s(self, kept: _Kept) -> float:
        """Returns the seconds until the next try, bounded in case the clock was set back."""
        return min(max(kept.not_before - self._now(), 0.0), LONGEST_WAIT_S)

    def _read(self) -> _Kept:
        try:
            kept = msgspec.convert(json.loads(read_own(self._path, LARGEST_BYTES)), type=_Kept)
            bytes.fromhex(kept.salt)
            if not 1 < kept.cost <= COST or kept.cost.bit_count() != 1:
                raise ValueError("its cost is out of range")
        except (ValueError, RecursionError) as error:
            raise _unusable(self._path, str(error)) from None
        except OSError as error:
            raise _unusable(self._path, error.strerror or str(error)) from None
        return kept

    def _write(self, kept: _Kept) -> None:
        try:
            write_atomically(self._path, msgspec.json.encode(kept))
        except OSError as error:
            raise _unusable(self._path, error.strerror or str(error)) from None


def _counted(kept: _Kept, now: float) -> _Kept:
    """Returns the content with one more wrong try."""
    wrong = kept.wrong + 1
    doubled = min(max(wrong - FREE_TRIES, 0), MOST_DOUBLINGS)
    waits_s = min(FIRST_WAIT_S * 2**doubled, LONGEST_WAIT_S) if wrong >= FREE_TRIES else 0.0
    return msgspec.structs.replace(kept, wrong=wrong, not_before=now + waits_s if waits_s else 0.0)


def _hashed(passphrase: str, salt: bytes, cost: int) -> bytes:
    text = passphrase.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(text, salt=salt, n=cost, r=BLOCK, p=PARALLEL, maxmem=MOST_MEMORY_BYTES)


def _must_wait(waits_s: float) -> Denied:
    message = Phrase("wait {seconds} s before the next try", seconds=f"{waits_s:.0f}")
    return Denied(Phrase("Too many wrong passphrases"), message, WHERE_TO_LOOK)


def _unusable(path: Path, reason: str) -> TooltrayError:
    title, message = Phrase("The passphrase cannot be used"), Phrase("{place}: {reason}", place=path, reason=reason)
    return TooltrayError(title, message, WHERE_TO_LOOK)


def _tries_left(count: int) -> Phrase:
    """Returns how many more wrong passphrases cost no wait."""
    if count < 1:
        return Phrase("the next try has to wait")
    return Phrase("1 more try before you have to wait") if count == 1 else Phrase("{count} more tries before you have to wait", count=count)
