"""Servers: their states, instances and connections, and their entries."""

from collections.abc import Mapping
from enum import Enum
from typing import ClassVar, Literal

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot
from tooltray.foundation.verbs import JsonMapping


class ServerState(Enum):
    """The state of one server. The table of transitions is in `instance_status`."""

    STOPPED = "stopped"  # a person stopped or disabled it
    ON_DEMAND = "on_demand"  # not running; its first use starts it
    WAITING = "waiting"  # not running; it needs to know for which project
    STARTING = "starting"
    INSTALLING = "installing"  # starting, and its launcher (npx, uvx) is downloading
    RUNNING = "running"
    RESTARTING = "restarting"  # died, and the next attempt is due; or a person restarts it, shown so until it runs or has failed
    STOPPING = "stopping"
    NEEDS_SIGN_IN = "needs_sign_in"  # it runs elsewhere and wants the person to sign in
    ERROR = "error"  # given up until the user acts


AWAITS_KEYRING = Phrase("Unlock your keyring to continue")
"""The detail of a server that starts and waits for its secrets."""
DID_NOT_START = Phrase("'{name}' did not start: {words}", name="", words="")
"""The title of a server's problem; `words`: what it wrote last."""

MENDED, LEFT_OUT = "mended", "left_out"
"""Codes of what is wrong with a definition: AI clients get it mended, or no list of all servers has it."""


class ProjectCopySnapshot(msgspec.Struct, frozen=True):
    """The instance of a server for one project."""

    path: str  # of the project, absolute
    name: str  # of the project
    state: ServerState
    session_count: int = 0  # AI clients of this project that are connected now
    target: str = ""  # its command line or URL, the project filled in; no secret is in it
    problem: Problem | None = None
    pids: tuple[int, ...] = ()


AccessChoice = Literal["careful", "trusted", "free"]
"""What a server may do: sandboxed, and changes ask; changes ask; or not sandboxed, and nothing asks."""


def usual_access(setting: AccessChoice | None, *, is_found: bool) -> AccessChoice:
    """Returns what a new server may do, if it can have that.

    Args:
        setting: `newServers` of the settings.
        is_found: others describe it: a registry, a bundle, a link.
    """
    return setting or ("careful" if is_found else "trusted")


RunsFreely = Literal["all", "reads", "some", "nothing"]


class AccessSnapshot(msgspec.Struct, frozen=True):
    """What a server may do, by its settings.

    Attributes:
        choice: None: its settings make none of the choices.
        offered: the choices that it can have on this computer, the safest first.
        runs: which calls run without asking by the rules of `autoApprove`.
        has_call_rules: rules on arguments let further calls run without asking.
        differs: without a choice: what makes the settings different, as a sentence.
    """

    choice: AccessChoice | None
    offered: tuple[AccessChoice, ...]
    runs: RunsFreely
    has_call_rules: bool = False
    differs: str = ""


class ServerSnapshot(msgspec.Struct, frozen=True):
    """One server as a card shows it. No secret is in it: `target` has placeholders, not values."""

    name: str
    transport: str  # "stdio", "inmemory", "http", "sse"
    target: str  # command line or URL
    state: ServerState
    since: float = 0.0  # unix seconds at which the state was entered
    is_default: bool = False  # starts with the hub
    is_disabled: bool = False  # never starts
    is_builtin: bool = False  # comes with Tooltray and cannot be removed
    icon: str = ""
    description: str = ""
    tool_count: int = 0
    is_listed: bool = True  # which tools it has is known; else the count says nothing
    calls: tuple[int, ...] = ()  # per hour, oldest first, the last 16 hours
    calls_today: int = 0
    p50_ms: float = 0.0  # the time within which half of its last calls ended
    p95_ms: float = 0.0
    problem: Problem | None = None  # with ERROR and RESTARTING
    detail: str = ""  # what happens now, while STARTING, INSTALLING or RESTARTING
    retry_at: float = 0.0  # unix seconds of the next attempt, with ERROR and RESTARTING; 0: none is planned
    pids: tuple[int, ...] = ()
    auto_approve: tuple[str, ...] = ()
    isolation: str = "shared"  # one copy for all AI clients, or "session": one for each
    idle_stop_s: float | None = None  # seconds without a call after which an on-demand server is stopped again; None: never
    saved_processes: int = 0  # launchers (npx, uvx and the shells between) that a direct start has spared
    is_signed_in: bool = False  # a token of a sign-in is kept for it
    has_sign_in_page: bool = False  # a sign-in has begun, and its page waits for the person
    is_lazy: bool = False  # AI clients see its tools when they have activated it
    is_deferred: bool = False  # it starts when a project is known, one copy for each
    startup_template: tuple[str, ...] = ()  # of a deferred server: its arguments with {project_path} and {project_name} in them
    copies: tuple[ProjectCopySnapshot, ...] = ()  # of a deferred server
    origin: str = (
        "settings"  # "project": its entry is in that project's own file; "served": as the hub was started; "hub"; "proposal": in none yet
    )
    file: str = ""  # the absolute path of that file; empty: of the settings
    project: str = ""  # absolute path of the folder whose sessions alone have it; empty: all sessions
    revision: str = ""  # of its entry: another one where that is another one
    waiting: bool = False  # it waits for a person's yes, or a change of it does
    label: str = ""  # which of a person's accounts it is
    color: str = ""  # of the label
    projects: tuple[str, ...] = ()  # as its entry has them: folders whose sessions, and those below, alone have it; empty: all sessions
    confinement: ConfinementSnapshot | None = None  # of a process; None: it is none
    access: AccessSnapshot | None = None  # None: it comes with Tooltray, or no file has its entry
    flaws: tuple[str, ...] = ()  # what is mended of its definitions for AI clients, or left out, and why, one sentence each
    flaw_counts: Mapping[str, int] = msgspec.field(default_factory=dict)  # how many definitions that is, by MENDED and LEFT_OUT


class InMemoryServer(msgspec.Struct, frozen=True):
    """A server in an installed package that can run inside Tooltray.

    Attributes:
        name: the value of `command` in its entry.
        summary: the package's own words.
        problem: why it cannot be used.
    """

    name: str
    package: str
    version: str = ""
    summary: str = ""
    problem: Problem | None = None


class McpClientSnapshot(msgspec.Struct, frozen=True):
    """One connection to one running server: a server has one for each era, and for each session with `isolation: session`."""

    server: str
    era: str  # "legacy" or "modern"
    protocol_version: str
    server_info: JsonMapping  # name and version, as the server says
    capabilities: tuple[str, ...]  # the names of what it offers: "tools", "prompts", ...
    tool_count: int = 0
    prompt_count: int = 0
    resource_count: int = 0
    is_of_one_session: bool = False
    pids: tuple[int, ...] = ()


class ServerEntry(HidesFields, frozen=True):
    """A server's entry in its file, and the entry that takes effect. Secrets are in it if the user wrote them into the file."""

    hidden: ClassVar = ("entry", "counts")

    name: str  # in its file
    entry: JsonMapping  # as it stands there
    counts: JsonMapping  # in the spelling of the settings, with what was chosen here for one of another file
