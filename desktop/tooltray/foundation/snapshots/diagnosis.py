"""The doctor's findings on one server, and the remedies, as data for the command line, the card and the bug report."""

import msgspec

from tooltray.foundation.errors import Problem


class Remedy(msgspec.Struct, frozen=True):
    """A way to fix a server.

    Attributes:
        kind: "use_absolute_path", "switch_registry", "add_to_path", "sign_in", "switch_on", "start", "install_runtime", "store_secret",
            "give_variables", or "advice" for a text.
        title: what to do, in words.
        value: its argument: a path, a registry's URL, or a command line that the user has to run.
        is_automatic: whether `apply_remedy` carries it out; else the user has to do it.
    """

    kind: str
    title: str
    value: str = ""
    is_automatic: bool = False


class Diagnosis(msgspec.Struct, frozen=True):
    """The findings on one server. They contain no secret: the command line has placeholders, not their values.

    Attributes:
        detail: the current step while it starts, or what it waits for.
        target: the command line, or the URL of a server elsewhere.
        command: the command in the settings.
        resolved_command: absolute path of the command's program on this computer; empty if not found.
        searched: the folders that were searched for the program.
        path: the PATH that was used.
        cwd: the folder in which it runs; empty for a remote server, and for a sandboxed one with a folder of its own.
        proxy: the proxy for a remote server, without user name and password.
        reached: how far a connection to a remote server gets, in words.
        saved_processes: number of launcher processes (npx, uvx and their shells) that were avoided by starting the server directly.
        exit_code: of the last process, if it has ended; None while a process runs.
        stderr: the last lines that its last process wrote to stderr; marked lines are from stdout, and were not messages.
        noise_lines: number of lines on its stdout that were not messages.
        remedies: what the user can do, most promising first.
        remark: a description of a valid part of the entry that is probably a mistake.
        flaws: sentences about corrected or left-out definitions, with the reasons.
        variables: one line for each variable that its entry sets or fills in, with its origin, without values.
        projects: the projects for which it has copies: name, folder and state, as text.
    """

    server: str
    is_ok: bool
    transport: str
    state: str
    detail: str = ""
    target: str = ""
    command: tuple[str, ...] = ()
    resolved_command: str = ""
    searched: tuple[str, ...] = ()
    path: str = ""
    cwd: str = ""
    proxy: str = ""
    reached: str = ""
    saved_processes: int = 0
    exit_code: int | None = None
    stderr: tuple[str, ...] = ()
    noise_lines: int = 0
    tool_count: int = 0
    is_listed: bool = True
    problem: Problem | None = None
    remedies: tuple[Remedy, ...] = ()
    projects: tuple[str, ...] = ()
    remark: str = ""
    flaws: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
