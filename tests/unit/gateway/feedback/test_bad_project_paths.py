"""feedback_tool.py: whatever models write as `project_path`, the person's answer comes, and no server starts for it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.events import EventBus, FeedbackAsked
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.builtin.hub_server import COLLECT_FEEDBACK, HubServer


@pytest.fixture
def program() -> ScriptedServer:
    return ScriptedServer(tool("find_symbol"))


@pytest.fixture
async def parts(tmp_path: Path, program: ScriptedServer) -> AsyncIterator[HubParts]:
    """A hub with a server that starts for projects; the folder `project` is allowed."""
    (tmp_path / "project").mkdir()
    (tmp_path / "secret").mkdir()
    own = HubServer(get_snapshot=lambda: HubSnapshot(1, "1", False, 0, 0.0, ()), takes_reports=lambda: True, bus=EventBus())
    options: dict[str, Any] = {"servers": {"s": entry("program", args=["{project_path}"], deferredStartup=True)}, "builtins": {"hub": own}}
    async with hub_parts(tmp_path / "home", has_window=True, programs={"program": program}, **options) as parts:
        await parts.presenter.start_server("hub")
        await parts.presenter.allow_folder(str(tmp_path / "project"))
        yield parts


async def reported(parts: HubParts, path: Any) -> list[str]:
    """The texts that a model gets; the person answers "Go on."."""
    arguments = {"work_summary": "# Done", "project_path": path}
    call = TaskKeeper().spawn(parts.call(COLLECT_FEEDBACK, parts.client(), arguments=arguments), name="call")
    event: FeedbackAsked = await parts.heard.event(FeedbackAsked)
    await parts.feedbacks.answer(event.request.id, "Go on.", ())
    result = (await call)["result"]
    assert result["isError"] is False
    return [block["text"] for block in result["content"]]


@pytest.mark.expected_warnings("reported")
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("{tmp}/project/../secret", "it is not allowed"),
        ("../project", "it does not begin at the root"),
        ("{tmp}/$(touch {tmp}/made)`touch {tmp}/made`; touch {tmp}/made &", "no such folder exists"),
        ("{tmp}/project\x1b[2J\n", "it has invisible characters"),
        ("{tmp}/\u202etcejorp", "it has invisible characters"),
        ("{project_path}", "it does not begin at the root"),
        ({"path": "x"}, "project_path must be text"),
    ],
)
async def test_a_bad_project_path_starts_nothing_and_costs_no_answer(
    parts: HubParts, program: ScriptedServer, tmp_path: Path, path: Any, reason: str
) -> None:
    written = path.replace("{tmp}", str(tmp_path)) if isinstance(path, str) else path
    texts = await reported(parts, written)
    assert texts[0] == "Go on."
    assert reason in texts[-1]
    assert not any(sign in texts[-1] for sign in "\0\x1b\u202e")
    assert program.copies.all == []
    assert not (tmp_path / "made").exists()


@pytest.mark.posix
async def test_a_way_round_to_a_folder_that_is_allowed_is_that_folder(parts: HubParts, program: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "project")
    texts = await reported(parts, f"{tmp_path}/secret/../link/.")
    assert "Server 's' has started for this project. Its tools: find_symbol." in texts[-1]
    assert [copy.launch.args for copy in program.running] == [(str((tmp_path / "project").resolve()),)]
