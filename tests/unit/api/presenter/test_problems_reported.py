"""What a person hears of a server that could not be started: once, with a title, the reason, and what to do. Real processes."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, Shell, entry, hub_parts

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ProblemReported
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.transports.stdio_transport import StdioTransport
from tooltray.servers.upstream.start_limits import Patience

GIVES_UP = Patience(restart_after_s=(), start_limit_s=20.0)
LOSES_PATIENCE = Patience(restart_after_s=(), start_limit_s=0.5, discover_timeout_s=0.1)
NOBODY = "http://127.0.0.1:9/mcp"  # nothing listens there


def python(program: str) -> dict[str, Any]:
    return entry(sys.executable, args=["-I", "-c", program])


async def reported(root: Path, config: dict[str, Any], patience: Patience = GIVES_UP) -> Problem:
    """What is reported of a server that is to be started; it stands on its card, and who started it is told the same."""
    async with hub_parts(root, servers={"s": config}, start_process=StdioTransport, shell=Shell(), patience=patience) as parts:
        with pytest.raises(TooltrayError) as raised:
            await parts.presenter.start_server("s")
        [event] = parts.heard.of(ProblemReported)
        assert event.server == "s"
        assert event.problem == card(parts).problem
        assert event.problem.title in str(raised.value)
        assert card(parts).state is ServerState.ERROR
        problem: Problem = event.problem
        return problem


def card(parts: HubParts) -> Any:
    return parts.presenter.snapshot().servers[-1]


async def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    problem = await reported(tmp_path, entry("tooltray-has-no-such-program"))
    assert problem.title == "command 'tooltray-has-no-such-program' not found"
    assert problem.message.startswith("looked in /usr/bin")
    assert "Install" in problem.hint


async def test_a_process_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    problem = await reported(tmp_path, python("import sys; sys.exit('the database is locked')"))
    assert problem == Problem("'s' did not start: the database is locked", "It ended with exit code 1")


async def test_a_process_that_says_nothing(tmp_path: Path) -> None:
    problem = await reported(tmp_path, python("import sys; sys.stdin.read()"), LOSES_PATIENCE)
    assert problem == Problem("'s' did not answer", "No answer within 0.5 s", "It may not be an MCP server; see its log.")


async def test_a_process_that_is_no_server(tmp_path: Path) -> None:
    program = "import sys\nfor line in sys.stdin: print('hello', flush=True)"
    problem = await reported(tmp_path, python(program), LOSES_PATIENCE)
    assert "may not be an MCP server" in problem.hint


async def test_a_secret_that_is_missing(tmp_path: Path) -> None:
    problem = await reported(tmp_path, entry("program", env={"KEY": "${secret:s/KEY}"}))
    assert "s/KEY" in str(problem)
    assert problem.hint


async def test_a_variable_that_is_missing(tmp_path: Path) -> None:
    problem = await reported(tmp_path, entry("program", args=["${NO_SUCH_VARIABLE_OF_OURS}"]))
    assert "NO_SUCH_VARIABLE_OF_OURS" in str(problem)
    assert problem.hint


async def test_a_server_elsewhere_that_nobody_answers_for(tmp_path: Path) -> None:
    problem = await reported(tmp_path, {"type": "http", "url": NOBODY})
    assert NOBODY in str(problem)
    assert problem.title
    assert problem.hint


async def test_an_entry_that_cannot_be_used_is_a_notice_from_the_start_and_reported_if_it_comes_later(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"bad": {"command": "x", "idleStop": -1}, "good": entry("y")}) as parts:
        [notice] = parts.presenter.snapshot().notices
        assert (notice.title, notice.hint) == ("The entry of server 'bad' cannot be used", "Correct it in settings.json")
        assert "idleStop" in notice.message
        document = json.loads(parts.home.settings.read_bytes())
        document["mcpServers"]["worse"] = {"note": 1}
        parts.home.settings.write_text(json.dumps(document))  # by hand, while the hub runs
        await parts.presenter.add_mcp_default_server("good")
        [event] = parts.heard.of(ProblemReported)
        assert event.problem.title == "The entry of server 'worse' cannot be used"
        assert [each.title for each in parts.presenter.snapshot().notices] == [notice.title, event.problem.title]
