"""Entries of projects' own files, and of programs, that wait for the user's approval or have it."""

import msgspec

from tooltray.foundation.snapshots.confinement import ConfinementSnapshot


class TrustRequest(msgspec.Struct, frozen=True):
    """An entry that runs only after the user's approval. Everything is shown as it is written, with placeholders not filled in."""

    project: str  # the folder of the project's file that has it, absolute; empty: a program has proposed it
    file: str
    entry: str  # its name in the file
    digest: str  # of the content, and of the files that it starts: a yes is for these alone
    is_change: bool  # a person said yes to another content before
    transport: str
    target: str  # command line or URL
    command: str = ""  # of a process
    host: str = ""  # of a server elsewhere
    cwd: str = ""
    secrets: tuple[str, ...] = ()  # the names of those that it would get
    variables: tuple[str, ...] = ()  # the same of the person's environment
    variable_states: tuple[str, ...] = ()  # of each of those, now: "set", "default" (not set, and the entry says what counts) or "missing"
    env: tuple[str, ...] = ()  # the variables that a process is started with besides the person's, as "NAME=value"
    headers: tuple[str, ...] = ()  # that are sent, as "Name: value"
    others: tuple[str, ...] = ()  # every other field of the entry, as "field: value"
    is_inside: bool = False  # what is started lies in the project itself
    auto_approve: tuple[str, ...] = ()  # which of its calls would go through unasked
    diff: tuple[str, ...] = ()  # against what was trusted, as far as that is known: lines that begin with "+", "-" or " "
    warnings: tuple[str, ...] = ()
    line: int = 0  # in the file, from 1
    files: tuple[str, ...] = ()  # of the project that it starts, with the beginning of each one's digest; a yes is for these, too
    confinement: ConfinementSnapshot | None = None  # that it would get; None: it is no process of this computer
    asked_by: str = ""  # the name of the token with which a program has proposed it; empty: it stands in the file


class TrustedEntry(msgspec.Struct, frozen=True):
    """An entry of a project's file that the user has approved."""

    project: str
    entry: str
    server: str  # how it is called here
    trusted_at: float  # unix seconds
    is_own: bool = False  # Tooltray wrote it there itself
