"""The doctor's findings on one server and the remedies, as data that the command line, the card and the bug report show."""

import msgspec

from tooltray.foundation.errors import Problem


class Remedy(msgspec.Struct, frozen=True):
    """A way to fix a server.

    Attributes:
        kind: "use_absolute_path", "switch_registry", "add_to_path", "sign_in", "switch_on", "start", "install_runtime", "store_secret",
            "give_variables", or "advice" for one that consists of words.
        title: what to do, in words.
        value: what is used for it: a path, a registry's URL; a command line that the user has to run.
        is_automatic: whether `apply_remedy` carries it out; else the user has to do it.
    """

    kind: str
    title: str
    value: str = ""
    is_automatic: bool = False


class Diagnosis(msgspec.Struct, frozen=True):
    """The findings on one server. They contain no secret: the command line has placeholders, not their values.

    Attributes:
        detail: what happens now, while it is on its way to running; what it waits for.
        target: the command line, or the URL of a server elsewhere.
        command: the command in the settings.
        resolved_command: absolute path of the program that the command means here, or empty.
        searched: the folders where the program was looked for.
        path: the PATH that was used.
        cwd: the folder in which it runs; empty for a remote server, and for a confined one that runs in a folder of its own.
        proxy: through which a remote server is reached, without user name and password.
        reached: how far a connection to a remote server gets, in words.
        saved_processes: launchers (npx, uvx and the shells between) that do not run, since the server was started without them.
        exit_code: of the last process, where it ended; None while one runs.
        stderr: the last lines that its last process wrote there; lines of stdout that were not messages are marked.
        noise_lines: lines on its stdout that were no messages.
        remedies: what the user can do, most promising first.
        remark: a part of the entry that is valid but may be meant otherwise, in words.
        flaws: what is corrected in its definitions for AI clients, or left out, and why, one sentence each.
        variables: where each variable that its entry sets or fills in came from, one line each, without values.
        projects: the projects for which it has copies: name, folder and state, in words.
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
