"""Secrets in one encrypted file, for machines without a keyring.

SecretStore calls this only on its worker thread, because deriving the key takes a good part of a second.

The file is JSON. `check` distinguishes a wrong passphrase from a damaged file: it is derived only from the passphrase. `sha256` detects
damage before the user is asked for a passphrase. The names are encrypted, too.

    {"version": 1, "n": ..., "r": ..., "p": ..., "salt": ..., "check": ..., "nonce": ..., "data": ..., "sha256": ...}
"""

import hashlib
import hmac
import json
import os
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec.structs import replace

from tooltray.config.secrets.vaults import SecretsDenied, SecretsLocked
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import read_regular

# OWASP's password storage cheat sheet lists these as one of five equal choices; they take 32 MB and about 0.3 s
SCRYPT_N, SCRYPT_R, SCRYPT_P = 2**15, 8, 3
MAX_SCRYPT_WORK = 2**24  # n * r * p of a file that is read; sixteen times ours, so that a forged file cannot exhaust the memory
SALT_BYTES, NONCE_BYTES, KEY_BYTES, CHECK_BYTES = 16, 12, 32, 16
VERSION = 1

_BYTES = ("salt", "check", "nonce", "data")

UNLOCK = Phrase("Unlock them: tooltray secrets unlock (or start Tooltray with TOOLTRAY_PASSPHRASE set)")
LOCKED = Phrase("The secrets are locked")


class _Key(HidesFields, frozen=True):
    """A key derived from a passphrase and a salt; `check` proves the passphrase, `key` encrypts."""

    hidden: ClassVar = ("key",)

    salt: bytes
    check: bytes
    key: bytes


class _Box(msgspec.Struct, frozen=True):
    """The file's fields, as they are on disk; n, r and p are the parameters of scrypt."""

    n: int
    r: int
    p: int
    salt: bytes
    check: bytes
    nonce: bytes
    data: bytes = b""

    def header(self) -> bytes:
        """Returns the fields that are authenticated without being encrypted."""
        return json.dumps([VERSION, self.n, self.r, self.p, self.salt.hex(), self.check.hex()]).encode()

    def to_json(self) -> bytes:
        fields: dict[str, object] = {"version": VERSION, "n": self.n, "r": self.r, "p": self.p}
        fields |= {name: b64encode(getattr(self, name)).decode() for name in _BYTES}
        return json.dumps(fields | {"sha256": _sum(fields)}).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        """Reads the file. Raises ValueError, TypeError or KeyError if it is damaged."""
        fields = json.loads(content)
        is_whole = fields["version"] == VERSION and fields.pop("sha256") == _sum(fields)
        if not is_whole or fields["n"] * fields["r"] * fields["p"] > MAX_SCRYPT_WORK:
            raise ValueError
        return cls(fields["n"], fields["r"], fields["p"], **{name: b64decode(fields[name]) for name in _BYTES})


def _sum(fields: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


class FileVault:
    """Names and values in `secrets.enc`.

    Args:
        path: the file; made with the first secret.
        passphrase: opens the file at its first use; None: `unlock` is called later.
    """

    def __init__(self, path: Path, passphrase: str | None = None) -> None:
        self._path = path
        self._passphrase = passphrase
        self._key: _Key | None = None

    def check(self) -> None:
        self._read()
        self._open_key()  # also for a file that is only made with the first secret

    def get(self, name: str) -> str | None:
        return self._read().get(name)

    def set(self, name: str, value: str) -> None:
        self._write({**self._read(), name: value})

    def remove(self, name: str) -> str | None:
        values = self._read()
        value = values.pop(name, None)
        if value is not None:
            self._write(values)
        return value

    def names(self) -> list[str]:
        return sorted(self._read())

    def unlock(self, passphrase: str) -> None:
        """Opens the file; if it does not exist, makes it with this passphrase.

        Raises:
            SecretsLocked: the passphrase is wrong.
            SecretsDenied: the file is damaged or cannot be read.
        """
        if not passphrase:
            raise SecretsLocked(LOCKED, Phrase("the passphrase is empty"), UNLOCK)
        box = self._load()
        if box is None:
            self._key = _derive(passphrase, os.urandom(SALT_BYTES), SCRYPT_N, SCRYPT_R, SCRYPT_P)
            self._write({})
            return
        key = _derive(passphrase, box.salt, box.n, box.r, box.p)
        if not hmac.compare_digest(key.check, box.check):
            raise SecretsLocked(Phrase("The passphrase is wrong"), Phrase("it does not open {path}", path=self._path), Phrase("Try again"))
        self._key = key

    def _read(self) -> dict[str, str]:
        box = self._load()
        if box is None:
            return {}
        key = self._open_key()
        if key.salt != box.salt:
            raise SecretsLocked(LOCKED, Phrase("{path} was replaced by another file", path=self._path), UNLOCK)
        try:
            values = json.loads(AESGCM(key.key).decrypt(box.nonce, box.data, box.header()))
        except InvalidTag:
            raise self._damaged("its content was changed") from None
        return {str(name): str(value) for name, value in values.items()}

    def _write(self, values: Mapping[str, str]) -> None:
        key = self._open_key()
        nonce = os.urandom(NONCE_BYTES)
        box = _Box(SCRYPT_N, SCRYPT_R, SCRYPT_P, key.salt, key.check, nonce)
        data = AESGCM(key.key).encrypt(nonce, json.dumps(values).encode(), box.header())
        try:
            write_atomically(self._path, replace(box, data=data).to_json())
        except OSError as error:
            message = Phrase("{path}: {reason}; nothing was changed", path=self._path, reason=error.strerror)
            raise SecretsDenied(Phrase("The secrets could not be written"), message) from None

    def _open_key(self) -> _Key:
        if self._key is None and self._passphrase is not None:
            self.unlock(self._passphrase)
            self._passphrase = None
        if self._key is None:
            raise SecretsLocked(LOCKED, Phrase("{path} needs its passphrase", path=self._path), UNLOCK)
        return self._key

    def _load(self) -> _Box | None:
        """Returns the file as it is on disk; None if it does not exist. Reads it each time, because the command line may also write it."""
        try:
            return _Box.from_json(read_regular(self._path))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SecretsDenied(Phrase("The secrets cannot be read"), f"{self._path}: {error.strerror}") from None
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._damaged("it is not what Tooltray wrote") from None

    def _damaged(self, reason: str) -> SecretsDenied:
        hint = Phrase("Put a copy of it back, or move it away and store the secrets again")
        return SecretsDenied(Phrase("The file of the secrets is damaged"), f"{self._path}: {reason}", hint)


def _derive(passphrase: str, salt: bytes, n: int, r: int, p: int) -> _Key:
    """Derives the key from a passphrase; `hashlib` lets other threads run meanwhile."""
    text = unicodedata.normalize("NFC", passphrase).encode(
        "utf-8", "surrogatepass"
    )  # some keyboards give é as one character, others as two
    memory = 128 * r * (n + p + 2)
    derived = hashlib.scrypt(text, salt=salt, n=n, r=r, p=p, maxmem=memory, dklen=KEY_BYTES + CHECK_BYTES)
    return _Key(salt, derived[KEY_BYTES:], derived[:KEY_BYTES])
