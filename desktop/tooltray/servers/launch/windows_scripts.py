"""Scripts as programs on Windows: the program behind a shim of npm, and command lines for `cmd.exe` and PowerShell. Runs, and is tested, on
every platform.

CreateProcess runs an `.exe`. A `.cmd` is run by `cmd.exe`, which reads its line by rules of its own: a program that quotes arguments for an
`.exe` lets an argument such as `"&calc` start another program ("BatBadBut", CVE-2024-24576). So:

- if the target of a shim that npm, pnpm or yarn has made is certain, Node.js and the script beside the shim are run instead of the shim;
- any other `.cmd` or `.bat` gets its arguments in quotation marks, and an argument that these cannot hold is refused;
- a `.ps1` is run by PowerShell, which takes arguments as an `.exe` does.
"""

import ntpath
import os
import re
from collections.abc import Callable, Sequence

from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.program_launch import CannotStart

MAX_SHIM_BYTES = 16 * 1024
POWERSHELL = ("powershell.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File")
_PLAIN = re.compile(r"[\w\-./:\\@+,=~]+")
_UNQUOTABLE = re.compile(r'["%\x00\r\n]')  # these have their meaning also inside quotes
_SHIM_SCRIPT = re.compile(r'"%_prog%"\s+"%(?:~dp0|dp0%)\\?([^"%]+\.[cm]?js)"\s+%\*', re.IGNORECASE)  # the last line of cmd-shim's files
_NPM_SCRIPT = re.compile(r'^SET "NP[MX]_CLI_JS=%~dp0\\?([^"%]+\.js)"', re.IGNORECASE | re.MULTILINE)  # npm.cmd and npx.cmd themselves
_NPM_LAST_LINE = re.compile(r'"%NODE_EXE%" "%NP[MX]_CLI_JS%" %\*', re.IGNORECASE)
_PROGRAMS = re.compile(r'SET "?_prog=([^"\r\n]*)', re.IGNORECASE)


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


def _shimmed(shim: str, is_file: Callable[[str], bool]) -> tuple[str, ...]:
    """Returns Node.js and the script that a shim of npm starts; empty if that is not certain."""
    text, folder = _read(shim), ntpath.dirname(shim)
    found = _NPM_SCRIPT.search(text) if _NPM_LAST_LINE.search(text) else _SHIM_SCRIPT.search(text)
    if found is None or any(ntpath.basename(program.lower()) not in ("node", "node.exe") for program in _PROGRAMS.findall(text)):
        return ()
    script, node = ntpath.normpath(ntpath.join(folder, found[1])), ntpath.join(folder, "node.exe")
    if not is_file(script):
        return ()
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
