"""The launch of a server that is a process on this computer: command, arguments, environment, folder; and how many files it may open.

The hub has some files open for each AI client and each server, and the usual soft limit is 1024, or 256: the hub raises its own limit as
far as the system allows. Its children get the original limit: programs that try all numbers up to the limit take minutes if it is a
million.

On Windows CreateProcess runs an `.exe`. A `.cmd` is run by `cmd.exe`, which reads its line by rules of its own: a program that quotes
arguments for an `.exe` lets an argument such as `"&calc` start another program ("BatBadBut", CVE-2024-24576). So:

- if the target of a shim that npm, pnpm or yarn has made is certain, Node.js and the script beside the shim are run instead of the shim;
- any other `.cmd` or `.bat` gets its arguments in quotation marks, and an argument that these cannot hold is refused;
- a `.ps1` is run by PowerShell, which takes arguments as an `.exe` does.
"""

import contextlib
import ntpath
import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Protocol

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase


class CannotStart(TooltrayError):
    """A failure to start that a retry would repeat: the user has to change something first."""


RunFirst = Callable[[Sequence[str], Mapping[str, str], str], Awaitable[bool]]
"""Runs a command line with an environment in a folder to its end, and returns whether all that it started has ended, too, if it could not
leave its process group; False also where that cannot be known.

Raises:
    TooltrayError: it fails; gives the reason.
"""


class CommandLine(HidesFields, frozen=True):
    """A command line and its whole environment; never displayed."""

    hidden: ClassVar = ("words", "env")

    words: Sequence[str]
    env: Mapping[str, str]


class Around(Protocol):
    """A wrapper around the program of a launch: a confinement."""

    async def command(self, program: str, launch: "Launch", run_first: RunFirst) -> CommandLine:
        """Returns the command line that replaces the program with the launch's arguments and environment.

        Args:
            program: absolute.
            run_first: runs a command to its end before the program starts.

        Raises:
            TooltrayError: it cannot be run like this; gives the reason.
        """
        ...


class Launch(HidesFields, frozen=True):
    """A program to run, with secrets and variables expanded; never displayed.

    Attributes:
        env: the whole environment of the child process.
        cwd: the folder in which it runs.
        saved_processes: the number of a launcher's processes that are saved by running its program directly.
        around: a wrapper around the program; None: the program is run as it is.
        on_silent_end: called if the program cannot be run, or exits without having written to its stdout; None: nothing is called.
    """

    hidden: ClassVar = ("args", "env", "on_silent_end", "around")

    command: str
    args: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    saved_processes: int = 0
    on_silent_end: Callable[[], None] | None = None
    around: Around | None = None


class DirectProgram(HidesFields, frozen=True):
    """The program that a launcher (npx, uvx) would run.

    Attributes:
        program: its absolute path.
        env: variables that the launcher would add to its environment.
        saved_processes: the number of processes that the launcher would keep running beside it.
    """

    hidden: ClassVar = ("args", "env")

    program: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    saved_processes: int


_before: list[int] = []  # the soft limit that this process was started with; belongs to the process, like the limit itself


def raise_file_limit() -> None:
    """Lets this process open as many files as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    with contextlib.suppress(ValueError, OSError):  # macOS names a limit that it does not grant
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        _before[:] = [soft]


def files_of_children() -> int:
    """Returns how many files a child may have open by its soft limit; 0: as many as this process."""
    return _before[0] if _before else 0


def restore_limit_for(pid: int) -> None:
    """Gives a child that has just been started the original soft limit. Linux only; a step between fork and exec would cost far more."""
    if sys.platform != "linux" or not _before:
        return
    import resource

    with contextlib.suppress(OSError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (_before[0], resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


MAX_SHIM_BYTES = 16 * 1024
POWERSHELL = ("powershell.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File")
_PLAIN = lazy_pattern(r"[\w\-./:\\@+,=~]+")
_UNQUOTABLE = lazy_pattern(r'["%\x00\r\n]')  # these have their meaning also inside quotes
_SHIM_SCRIPT = lazy_pattern(r'"%_prog%"\s+"%(?:~dp0|dp0%)\\?([^"%]+\.[cm]?js)"\s+%\*', re.IGNORECASE)  # the last line of cmd-shim's files
_NPM_SCRIPT = lazy_pattern(r'^SET "NP[MX]_CLI_JS=%~dp0\\?([^"%]+\.js)"', re.IGNORECASE | re.MULTILINE)  # npm.cmd and npx.cmd themselves
_NPM_LAST_LINE = lazy_pattern(r'"%NODE_EXE%" "%NP[MX]_CLI_JS%" %\*', re.IGNORECASE)
_PROGRAMS = lazy_pattern(r'SET "?_prog=([^"\r\n]*)', re.IGNORECASE)


class ScriptLine(str):
    """A command line for `cmd.exe`, quoted already; it is started with a shell."""


def command_line(program: str, args: Sequence[str], *, is_file: Callable[[str], bool] = os.path.isfile) -> tuple[str, ...]:
    """Returns the command line for a program that look_up has found.

    Args:
        program: absolute path.

    Returns:
        A program and its arguments; or one ScriptLine.

    Raises:
        CannotStart: an argument cannot be given to a `.cmd` safely.
    """
    ending = ntpath.splitext(program)[1].lower()
    if ending == ".ps1":
        return (*POWERSHELL, program, *args)
    if ending not in (".cmd", ".bat"):
        return (program, *args)
    if shimmed := _shimmed(program, is_file):
        return (*shimmed, *args)
    return (ScriptLine(" ".join(_for_cmd(each) for each in (program, *args))),)


def _shimmed(shim: str, is_file: Callable[[str], bool]) -> tuple[str, ...] | None:
    """Returns Node.js and the script that a shim of npm starts; None if that is not certain."""
    text, folder = _read(shim), ntpath.dirname(shim)
    found = _NPM_SCRIPT.search(text) if _NPM_LAST_LINE.search(text) else _SHIM_SCRIPT.search(text)
    if found is None or any(ntpath.basename(program.lower()) not in ("node", "node.exe") for program in _PROGRAMS.findall(text)):
        return None
    script, node = ntpath.normpath(ntpath.join(folder, found[1])), ntpath.join(folder, "node.exe")
    if not is_file(script):
        return None
    return (node, script) if is_file(node) else ("node.exe", script)


def _read(shim: str) -> str:
    try:
        with open(shim, "rb") as file:
            return file.read(MAX_SHIM_BYTES).decode(errors="replace")
    except OSError:
        return ""


def _for_cmd(argument: str) -> str:
    if _PLAIN.fullmatch(argument):
        return argument
    if _UNQUOTABLE.search(argument):
        title = Phrase("An argument cannot be given to a .cmd file safely")
        hint = Phrase("Name the program that the .cmd file starts as the command, such as node.exe with a script.")
        raise CannotStart(title, Phrase("quotation marks, percent signs and line breaks mean something else there"), hint)
    trailing = len(argument) - len(argument.rstrip("\\"))
    return f'"{argument}{chr(92) * trailing}"'  # otherwise the last backslash would escape the closing quotation mark
