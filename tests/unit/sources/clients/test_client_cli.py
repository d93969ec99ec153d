"""client_cli.py: a client that runs makes a change itself, if its command does it."""

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.ai_client_home import ClientHome

from tooltray.foundation.files.member_change import MISSING
from tooltray.sources.clients.client_cli import filled_in, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is a script")

CLAUDE = """#!{python}
import json, os, sys
path = os.environ["HOME"] + "/.claude.json"
document = json.load(open(path))
if sys.argv[2] == "add-json":
    document.setdefault("mcpServers", {{}})[sys.argv[5]] = json.loads(sys.argv[6])
else:
    del document["mcpServers"][sys.argv[5]]
json.dump(document | {{"words": sys.argv[1:5]}}, open(path, "w"), indent=2)
"""
BEFORE = '{"numStartups": 1}'


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    made.path = str(tmp_path / "programs")
    made.runs("claude")
    yield made
    await made.close()


def _claude(home: ClientHome, script: str) -> str:
    program = home.write("programs/claude", script.format(python=sys.executable))
    program.chmod(0o755)
    return str(program)


async def test_a_client_that_runs_is_asked_to_write_its_own_file(home: ClientHome) -> None:
    program, file = _claude(home, CLAUDE), home.write(".claude.json", BEFORE)
    (edit,) = await home.edits().preview("connect", ["claude-code"])
    entry = {"type": "stdio", "command": str(home.bridge), "args": []}
    assert edit.command == (program, "mcp", "add-json", "-s", "user", "tooltray", json.dumps(entry))
    (change,) = await home.edits().apply({edit.id: edit.revision})
    document = json.loads(file.read_text())
    assert (document["words"], document["mcpServers"]) == (["mcp", "add-json", "-s", "user"], {"tooltray": entry})
    (edit,) = await home.edits().preview("disconnect", ["claude-code"])
    assert edit.command[1:] == ("mcp", "remove", "-s", "user", "tooltray")
    (gone,) = await home.edits().apply({edit.id: edit.revision})
    assert json.loads(file.read_text())["mcpServers"] == {}
    await home.edits().undo(gone.id)
    await home.edits().undo(change.id)
    assert file.read_text() == BEFORE


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 0\n", "no program", "#!/bin/sh\nkill -9 $$\n"])
async def test_where_the_command_does_not_do_it_the_file_is_written(home: ClientHome, script: str) -> None:
    _claude(home, script)
    file = home.write(".claude.json", BEFORE)
    (edit,) = await home.edits().preview("connect", ["claude-code"])
    assert edit.command
    (change,) = await home.edits().apply({edit.id: edit.revision})
    assert change.problem is None
    assert json.loads(file.read_text())["mcpServers"]["tooltray"]["command"] == str(home.bridge)
    await home.edits().undo(change.id)
    assert file.read_text() == BEFORE


async def test_a_command_that_wrote_something_else_is_a_conflict(home: ClientHome) -> None:
    _claude(home, '#!/bin/sh\necho "{{}}" > "$HOME/.claude.json"\n')
    home.write(".claude.json", BEFORE)
    (edit,) = await home.edits().preview("connect", ["claude-code"])
    (change,) = await home.edits().apply({edit.id: edit.revision})
    assert change.problem
    assert "has changed since" in change.problem.title
    assert await home.edits().changes() == []


async def test_without_its_program_or_if_it_does_not_run_the_file_is_written(home: ClientHome) -> None:
    home.write(".claude.json", BEFORE)
    (edit,) = await home.edits().preview("connect", ["claude-code"])
    assert (edit.command, edit.diff != "") == ((), True)
    _claude(home, CLAUDE)
    os.unlink(home.proc / "4242" / "cmdline")
    (edit,) = await home.edits().preview("connect", ["claude-code"])
    assert edit.command == ()


async def test_a_list_of_a_project_and_an_outdated_entry_are_changed_in_the_file(home: ClientHome) -> None:
    _claude(home, CLAUDE)
    entry = {"command": "/gone/tooltray-bridge"}
    home.write(".claude.json", json.dumps({"projects": {"/p": {"mcpServers": {"tooltray": entry}}}}))
    (edit,) = await home.edits().preview("disconnect", ["claude-code"])
    assert (edit.command, edit.diff != "") == ((), True)
    home.write(".claude.json", json.dumps({"mcpServers": {"tooltray": entry}}))
    (edit,) = await home.edits().preview("connect", ["claude-code"])
    assert (edit.action, edit.command) == ("mend", ())


async def test_a_command_gets_no_shell_and_no_more_time_than_it_should(home: ClientHome, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"]}
    assert await run(["/bin/sh", "-c", "test \"$1\" = 'a;b $HOME'", "sh", "a;b $HOME"], environ, cwd=str(tmp_path))
    assert not await run(["/bin/sh", "-c", "sleep 60"], environ, cwd=str(tmp_path), timeout_s=0.01)
    assert not await run([str(tmp_path / "nothing")], environ, cwd=str(tmp_path))


def test_words_of_every_command_are_filled_in() -> None:
    entry = {"command": "/b", "args": ["--x"]}
    assert filled_in(["add", "{name}", "--", "{words}"], "t", entry) == ["add", "t", "--", "/b", "--x"]
    assert filled_in(["--add-mcp", "{named_json}"], "t", entry) == ["--add-mcp", json.dumps({"name": "t", **entry})]
    assert filled_in(["remove", "{name}"], "t", MISSING) == ["remove", "t"]
