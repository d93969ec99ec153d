"""The whole hub at one moment, and the variables with which it starts servers."""

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot


class HubSnapshot(msgspec.Struct, frozen=True):
    """The whole hub at one moment."""

    pid: int
    version: str
    is_paused: bool  # `mcpEnabled` is off: lists stay, calls are refused
    session_count: int  # AI clients connected now
    started_at: float  # unix seconds
    servers: tuple[ServerSnapshot, ...]
    notices: tuple[Problem, ...] = ()  # what was wrong with the settings, and what was done about it
    paused_until: float = 0.0  # unix seconds; 0: until it is resumed, or it is not paused
    secret_backend: str = "keyring"  # where secrets are kept: "keyring", "file" or "memory"


class EnvironmentVariable(msgspec.Struct, frozen=True):
    """A variable with which servers are started.

    Attributes:
        value: without user and password.
        origin: the login shell, the environment that Tooltray was started with, `remembered`, or the place in the system.
        since: the day since when it is remembered; empty for any other.
        is_used: servers get it; False where its file no longer exists.
    """

    name: str
    value: str
    origin: str
    since: str
    is_used: bool


class EnvironmentChange(msgspec.Struct, frozen=True):
    """A variable that was set when a server last worked.

    Attributes:
        was: empty: it was set, and its value is not kept.
        now: empty: it is missing.
    """

    server: str
    name: str
    was: str
    now: str


class EnvironmentSnapshot(msgspec.Struct, frozen=True):
    """The variables that decide whether a server works; no password is in them."""

    variables: tuple[EnvironmentVariable, ...]
    changes: tuple[EnvironmentChange, ...]
