"""The whole hub, its program, the variables and the npm registry with which it starts servers."""

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot


class ReleaseNews(msgspec.Struct, frozen=True):
    """What the list of Tooltray's releases has for this installation.

    Attributes:
        address: of the list; empty: no list is read.
        check: whether the user wants it to be read once a day; None: not decided.
        checked_at: unix seconds of the last attempt to read it; 0: never.
        problem: why the last attempt failed; what is known is from an earlier one.
        withdrawn: why the running version was withdrawn; empty: it was not.
        version: of a newer release; empty: unknown.
        changes: of that release, a plain line each.
        update: how it is installed on this kind of installation, in words; `command` is the command in it, if it has one.
        download: the address of its file for this kind of installation; empty: the list has none.
    """

    address: str = ""
    check: bool | None = None
    checked_at: float = 0.0
    problem: Problem | None = None
    withdrawn: str = ""
    version: str = ""
    changes: tuple[str, ...] = ()
    update: str = ""
    command: str = ""
    download: str = ""

    @property
    def is_unasked(self) -> bool:
        """Whether the user is to be asked."""
        return self.check is None and bool(self.address)


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
    awaits_keyring: bool = False  # the system's keyring keeps a call waiting, probably with a prompt
    release: ReleaseNews = ReleaseNews()


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


class ProgramLoad(msgspec.Struct, frozen=True):
    """The memory and processor time that Tooltray uses now.

    Attributes:
        memory_bytes: of the hub, including its window if it has one; without servers.
        cpu_share: of one processor, since the last request (1.0: a whole processor).
        server_memory_bytes: of all local servers, including their child processes; memory that they share counts for each.
        running_servers: the number of servers that are local processes.
    """

    memory_bytes: int
    cpu_share: float
    server_memory_bytes: int
    running_servers: int


class ProgramSnapshot(msgspec.Struct, frozen=True):
    """This installation of Tooltray.

    Attributes:
        kind: a key of `installs.installation.KINDS`; `kind_name` is its display name.
        update: how a newer version is installed, in words.
        starts_at_login: as the system reports it, also after changes made elsewhere.
        home: the folder of all its files, including settings and logs.
    """

    version: str
    kind: str
    kind_name: str
    update: str
    starts_at_login: bool
    home: str = ""
    settings: str = ""
    logs: str = ""


class RegistryMeasurement(msgspec.Struct, frozen=True):
    """The measurement of one npm registry."""

    url: str  # as it may be shown: without user name and password
    name: str  # how people know it
    origin: str  # "npm" (npm's own configuration), "mirror" (comes with Tooltray), "settings", or "custom"
    region: str = ""  # where it stands, in words
    milliseconds: float | None = None  # until it answered for the probed packages; None: it did not
    problem: str = ""  # why it cannot be used


class NpmRegistryStatus(msgspec.Struct, frozen=True):
    """The npm registry that servers get, and why."""

    url: str = ""  # what servers get, as it may be shown; empty: what npm itself is configured to use
    origin: str = "npm"  # as in RegistryMeasurement
    is_auto_detect: bool = True
    custom_url: str = ""  # chosen by the person; it goes before all others
    measured_at: float = 0.0  # unix seconds; 0: never
    is_from_cache: bool = False  # measured by an earlier hub
    is_measuring: bool = False
    measurements: tuple[RegistryMeasurement, ...] = ()  # fastest first, then those that cannot be used
