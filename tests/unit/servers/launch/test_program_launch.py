"""program_launch.py"""

import subprocess
import sys
from pathlib import Path

import pytest

from tooltray.servers.launch.program_launch import POWERSHELL, CannotStart, ScriptLine, command_line

NPM_SHIM = r"""@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0

IF EXIST "%dp0%\node.exe" (
  SET "_prog=%dp0%\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\node_modules\a-server\dist\index.js" %*
"""
NPX = r""":: Created by npm, please don't edit manually.
@ECHO OFF
SETLOCAL
SET "NODE_EXE=%~dp0\node.exe"
IF NOT EXIST "%NODE_EXE%" (
  SET "NODE_EXE=node"
)
SET "NPM_PREFIX_JS=%~dp0\node_modules\npm\bin\npm-prefix.js"
SET "NPX_CLI_JS=%~dp0\node_modules\npm\bin\npx-cli.js"
"%NODE_EXE%" "%NPX_CLI_JS%" %*
"""


def shim(folder: Path, text: str) -> str:
    path = folder / "tool.cmd"
    path.write_text(text)
    return str(path)


def line_of(tmp_path: Path, text: str, *there: str, args: tuple[str, ...] = ("-y", "a server")) -> tuple[str, ...]:
    return command_line(shim(tmp_path, text), args, is_file=lambda path: any(path.endswith(each) for each in there))


def test_an_exe_is_started_as_it_is() -> None:
    assert command_line("C:\\uvx.exe", ["a", '"']) == ("C:\\uvx.exe", "a", '"')


def test_a_shim_of_npm_is_passed_by(tmp_path: Path) -> None:
    node, script, *args = line_of(tmp_path, NPM_SHIM, "index.js")

    assert node == "node.exe"
    assert script.endswith("\\node_modules\\a-server\\dist\\index.js")
    assert args == ["-y", "a server"]


def test_the_node_beside_a_shim_goes_before_the_one_on_the_path(tmp_path: Path) -> None:
    node, script, *_ = line_of(tmp_path, NPX, "npx-cli.js", "node.exe")

    assert node.endswith("\\node.exe")
    assert node != "node.exe"
    assert script.endswith("\\node_modules\\npm\\bin\\npx-cli.js")


@pytest.mark.parametrize(
    "text", ["", "@echo off\n", NPM_SHIM.replace('_prog=node"', '_prog=bun"'), NPM_SHIM.replace("index.js", "index.sh")]
)
def test_what_a_script_starts_is_left_to_cmd_where_it_is_not_certain(tmp_path: Path, text: str) -> None:
    (line,) = line_of(tmp_path, text, "index.js", "index.sh")

    assert isinstance(line, ScriptLine)


def test_a_shim_whose_script_is_gone_is_left_to_cmd(tmp_path: Path) -> None:
    (line,) = line_of(tmp_path, NPM_SHIM)

    assert isinstance(line, ScriptLine)


@pytest.mark.parametrize(
    ("argument", "written"),
    [
        ("plain-1.0", "plain-1.0"),
        ("C:\\a\\b", "C:\\a\\b"),
        ("two words", '"two words"'),
        ("a&calc", '"a&calc"'),
        ("a|b>c<d^e(f)", '"a|b>c<d^e(f)"'),
        ("", '""'),
        ("a b\\", '"a b\\\\"'),
        ("caf\u00e9", "caf\u00e9"),
    ],
)
def test_arguments_are_quoted_by_the_rules_of_cmd(argument: str, written: str) -> None:
    assert command_line("C:\\x.bat", [argument]) == (f"C:\\x.bat {written}",)


@pytest.mark.parametrize("argument", ['"&calc', "%PATH%", "50%", "one\ntwo", "one\rtwo", "\0"])
def test_an_argument_that_cmd_would_read_otherwise_is_refused(argument: str) -> None:
    with pytest.raises(CannotStart, match="safely"):
        command_line("C:\\x.cmd", [argument])


def test_powershell_runs_its_scripts() -> None:
    assert command_line("C:\\x.ps1", ["a b"]) == (*POWERSHELL, "C:\\x.ps1", "a b")


FILES = """
import os, resource
from tooltray.servers.launch.program_launch import files_of_children, raise_file_limit, restore_limit_for
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

def limits(soft):
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    raise_file_limit()
    raised = resource.getrlimit(resource.RLIMIT_NOFILE)
    restore_limit_for(os.getpid())
    given = resource.getrlimit(resource.RLIMIT_NOFILE)
    return [number - hard for number in (*raised, *given)] + [files_of_children() and files_of_children() - hard]

print(limits(hard), limits(hard - 7), limits(hard))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux changes the limit of a running process")
def test_children_get_the_limit_of_open_files_that_the_hub_was_started_with() -> None:
    """Each list: the soft and the hard limit of the hub, those of a child, and what is given to a child's launcher, less the hard limit."""
    ran = subprocess.run([sys.executable, "-c", FILES], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[0] == "[0, 0, 0, 0, 0] [0, 0, -7, 0, -7] [0, 0, -7, 0, -7]"
