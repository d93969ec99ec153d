"""Secrets, as a list shows them: names and uses, never values."""

from typing import Literal

import msgspec

from tooltray.foundation.errors import Problem


class SecretSnapshot(msgspec.Struct, frozen=True):
    """One secret, without its value.

    Attributes:
        is_stored: None: unknown, because the store could not be read.
        used_by: servers by their names, else files by their paths.
        perhaps_used_by: paths of files that cannot be read, which may use any secret.
        kind: "value"; "own": a secret of Tooltray itself; "sign-in": the tokens of a sign-in to the server in `used_by`; "provided": stored
            elsewhere and fetched when a server starts.
        origin: of the kind "provided": its source.
        problem: of the kind "provided": why it cannot be fetched, as far as that is known without fetching it.
    """

    name: str
    is_stored: bool | None
    used_by: tuple[str, ...] = ()
    perhaps_used_by: tuple[str, ...] = ()
    kind: Literal["value", "sign-in", "own", "provided"] = "value"
    origin: str = ""
    problem: Problem | None = None


class StoredSecrets(msgspec.Struct, frozen=True):
    """All secrets, without their values, and the state of their store.

    Attributes:
        backend: where secrets are stored: "keyring", "file" or "memory".
        is_proven: the store has answered since the hub started.
        problem: why the store does not answer, as of the last attempt.
        secrets: stored ones, and ones that are used and not stored; by name.
    """

    backend: str
    is_proven: bool = False
    problem: Problem | None = None
    secrets: tuple[SecretSnapshot, ...] = ()
