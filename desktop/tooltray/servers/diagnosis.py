"""What the doctor found out about one server: data, so that the command line, a card and a bug report can all show it.

The lowest layer of servers: a frozen dataclass and nothing else.
"""

from dataclasses import dataclass

from tooltray.errors import Problem


@dataclass(frozen=True)
class Diagnosis:
    """No secret is in it: the command line has its placeholders, not their values.

    Attributes:
        command: what the settings say is run.
        resolved_command: absolute path of the program that this means here, or empty.
        searched: the folders where the program was looked for.
        path: the PATH that counted.
        exit_code: of the last process, where it ended.
        stderr: the last lines the server wrote there.
        noise_lines: lines on its stdout that were no messages.
        remedies: what a person can do, most promising first.
    """

    server: str
    is_ok: bool
    transport: str
    state: str
    command: tuple[str, ...] = ()
    resolved_command: str = ""
    searched: tuple[str, ...] = ()
    path: str = ""
    cwd: str = ""
    exit_code: int | None = None
    stderr: tuple[str, ...] = ()
    noise_lines: int = 0
    tool_count: int = 0
    problem: Problem | None = None
    remedies: tuple[str, ...] = ()
