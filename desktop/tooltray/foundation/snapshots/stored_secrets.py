"""Secrets, as a list shows them: names and uses, never values."""

from typing import Literal

import msgspec

from tooltray.foundation.errors import Problem


class SecretSnapshot(msgspec.Struct, frozen=True):
    """
    Attributes:
        is_stored: None: that could not be read.
        used_by: servers by their names, else files by their paths.
        perhaps_used_by: paths of files that cannot be read, which may use any secret.
        kind: "own" is kept by Tooltray for itself, "sign-in" holds the tokens of a sign-in to the server in `used_by`, "provided" is kept
            elsewhere and fetched when a server starts.
        origin: where one that is provided comes from.
        problem: why one that is provided cannot be had, as far as can be seen without asking for it.
    """

    name: str
    is_stored: bool | None
    used_by: tuple[str, ...] = ()
    perhaps_used_by: tuple[str, ...] = ()
    kind: Literal["value", "sign-in", "own", "provided"] = "value"
    origin: str = ""
    problem: Problem | None = None


class StoredSecrets(msgspec.Struct, frozen=True):
    """
    Attributes:
        backend: where secrets are kept: "keyring", "file" or "memory".
        is_proven: that place has answered since the hub started.
        problem: why it does not answer, as of the last try.
        secrets: those that are stored, and those that are used and not stored; by name.
    """

    backend: str
    is_proven: bool = False
    problem: Problem | None = None
    secrets: tuple[SecretSnapshot, ...] = ()
