"""feedback_tool.py, feedback_report.py: a model reports, a person answers, and the project's servers start meanwhile."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.heard import Record
from tests.fakes.hub_parts import Client, HubParts, entry, hub_parts
from tests.fakes.pictures import attached, png
from tests.fakes.scripted_server import ScriptedServer, raw, tool
from tests.portable import absolute

from tooltray.foundation.events import EventBus, FeedbackAsked
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.questions import FeedbackAttachment, FeedbackSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.gateway.feedback.feedback_report import MOST_TOOLS_NAMED, failed_note, notes_block, started_note
from tooltray.gateway.feedback.feedbacks import LONGEST_ANSWER, MOST_OPEN
from tooltray.protocol.envelope import Envelope, failure
from tooltray.servers.builtin.hub_server import COLLECT_FEEDBACK, HubServer
from tooltray.sources.projects.projects import ProjectReport

SHOP = absolute("code", "shop")
Made = Callable[..., AbstractAsyncContextManager[HubParts]]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A hub with the real built-in server and what else a test wants."""

    @asynccontextmanager
    async def make(*, reports: bool = True, has_window: bool = True, **options: Any) -> AsyncIterator[HubParts]:
        own = HubServer(get_snapshot=lambda: HubSnapshot(1, "1", False, 0, 0.0, ()), takes_reports=lambda: reports, bus=EventBus())
        async with hub_parts(tmp_path / "home", builtins={"hub": own}, has_window=has_window, **options) as parts:
            await parts.presenter.start_server("hub")
            yield parts

    return make


@pytest.fixture
async def parts(made: Made) -> AsyncIterator[HubParts]:
    async with made() as parts:
        yield parts


class Waiting:
    """A call of the tool that waits for the person."""

    def __init__(
        self, parts: HubParts, client: Client | None = None, /, *, meta: Any = None, is_modern: bool = False, **arguments: Any
    ) -> None:
        self.parts, self.client = parts, client or parts.client(name="Claude")
        params = {"arguments": {"work_summary": "# Done", **arguments}} | ({"_meta": meta} if meta else {})
        self.task = TaskKeeper().spawn(parts.call(COLLECT_FEEDBACK, self.client, is_modern=is_modern, **params), name="call")

    async def report(self, *, count: int = 1) -> FeedbackSnapshot:
        event: FeedbackAsked = await self.parts.heard.event(FeedbackAsked, count=count)
        return event.request

    async def answer(self, text: str = "Yes", attachments: tuple[FeedbackAttachment, ...] = (), *, count: int = 1) -> Any:
        await self.parts.feedbacks.answer((await self.report(count=count)).id, text, attachments)
        return await self.result()

    async def result(self) -> Any:
        return (await self.task)["result"]

    async def given_up(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})


def texts(result: Any) -> list[str]:
    return [block["text"] for block in result["content"] if block["type"] == "text"]


async def test_the_answer_comes_as_text_pictures_and_files(parts: HubParts, tmp_path: Path) -> None:
    large = tmp_path / "large.log"
    large.write_bytes(b"")
    given = (attached(b"notes", "n.txt", "text/plain"), attached(png()), FeedbackAttachment("l", "", path=str(large)))
    result = await Waiting(parts).answer("Looks good", given)
    assert [block["type"] for block in result["content"]] == ["text", "image", "resource", "text"]
    assert result["content"][0]["text"] == "Looks good"
    assert result["content"][1] == {"type": "image", "data": given[1].data, "mimeType": "image/png"}
    assert result["content"][2]["resource"]["text"] == "notes"
    assert f"- {json.dumps(str(large))}" in result["content"][3]["text"]
    assert result["isError"] is False


@pytest.mark.expected_warnings("no such folder exists")
async def test_the_person_sees_who_reports_what_on_which_project(parts: HubParts) -> None:
    client = parts.client()
    client.state.client = "Claude\x1b Code"
    call = Waiting(parts, client, project_name="", project_path=SHOP + os.sep)
    shown = await call.report()
    assert (shown.client, shown.summary, shown.project_path, shown.project_name) == ("Claude Code", "# Done", SHOP, "shop")
    assert round(shown.ends_at - shown.asked_at) == 86400
    await parts.feedbacks.dismiss(shown.id)
    result = await call.result()
    assert texts(result)[0].startswith("The user closed the report without an answer")
    assert result["isError"] is False


async def test_only_attachments_are_an_answer_too(parts: HubParts) -> None:
    assert texts(await Waiting(parts).answer("", (attached(png()),)))[0].startswith("The user wrote no text")


async def test_without_a_summary_nobody_is_disturbed(parts: HubParts) -> None:
    given: list[dict[str, Any]] = [{}, {"arguments": []}, {"arguments": {"work_summary": " "}}]
    for arguments in given:
        result = (await parts.call(COLLECT_FEEDBACK, **arguments))["result"]
        assert result["isError"] is True
        assert "work_summary is missing" in texts(result)[0]
    assert parts.heard.of(FeedbackAsked) == []


@pytest.mark.expected_warnings("no such folder exists")
async def test_a_model_hears_what_became_of_its_arguments(parts: HubParts) -> None:
    result = await Waiting(parts, timeout_s=5, project_path=absolute("no", "such", "folder")).answer()
    assert texts(result)[0] == "Yes"
    assert "timeout_s was raised to 600" in texts(result)[-1]
    assert absolute("no", "such", "folder") in texts(result)[-1]


async def test_a_modern_client_gets_what_its_era_has(parts: HubParts) -> None:
    result = await Waiting(parts, is_modern=True).answer()
    assert (result["resultType"], texts(result)[0]) == ("complete", "Yes")


async def test_too_many_reports_are_refused_in_words(parts: HubParts) -> None:
    calls = [Waiting(parts, parts.client(name=f"c{number}")) for number in range(MOST_OPEN)]
    await parts.heard.event(FeedbackAsked, count=MOST_OPEN)
    result = (await parts.call(COLLECT_FEEDBACK, parts.client(name="more"), arguments={"work_summary": "x", "timeout_s": 1}))["result"]
    assert result["isError"] is True
    assert "Too many reports" in texts(result)[0]
    assert "raised" in texts(result)[1]
    for call in calls:
        await call.given_up()


async def test_a_call_that_was_given_up_finds_the_answer_by_asking_again(parts: HubParts) -> None:
    client = parts.client()
    call = Waiting(parts, client)
    shown = await call.report()
    await call.given_up()
    await parts.feedbacks.answer(shown.id, "Yes", ())
    for summary in ("# Done", "# Something else"):
        again = Waiting(parts, client, work_summary=summary)
        if summary == "# Done":
            result = await again.result()
            assert texts(result)[0] == "Yes"
            assert "which you had stopped waiting for" in texts(result)[-1]
            assert "has not seen" not in texts(result)[-1]
            continue
        assert texts(await again.answer("No", count=2)) == ["No"]


async def test_an_answer_to_an_earlier_report_says_that_the_latest_was_not_seen(parts: HubParts) -> None:
    client = parts.client()
    call = Waiting(parts, client)
    shown = await call.report()
    await call.given_up()
    await parts.feedbacks.answer(shown.id, "Yes", ())
    result = await Waiting(parts, client, work_summary="# More").result()
    assert "The user has not seen your latest report" in texts(result)[-1]


async def test_an_answer_that_is_given_once_more_says_so(parts: HubParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.gateway.feedback.feedback_report.LEAST_OPEN_S", 0.0)
    client = parts.client()
    assert texts(await Waiting(parts, client).answer()) == ["Yes"]
    again = texts(await Waiting(parts, client).result())
    assert again[0] == "Yes"
    assert "again the answer to the same report" in again[-1]


async def test_who_asked_for_progress_hears_that_it_waits(made: Made) -> None:
    async with made() as parts:
        call = Waiting(parts, meta={"progressToken": "t"})
        await call.report()
        method, params = await call.client.told.wait()
        assert (method, params["progressToken"], params["progress"]) == ("notifications/progress", "t", 0)
        assert "the report waits" not in params["message"]
        await call.answer()


async def test_where_no_window_is_the_first_news_say_where_the_report_waits(made: Made) -> None:
    async with made(has_window=False) as parts:
        call = Waiting(parts, parts.client(capabilities=FORM, answer=never), meta={"progressToken": 7})
        shown = await call.report()
        _, params = await call.client.told.wait()
        assert f"in Tooltray, where the report waits as {shown.id}" in params["message"]
        await call.answer()


# the client's own person


FORM: dict[str, Any] = {"elicitation": {"form": {}}}


async def never(method: str) -> Envelope:
    """A person who thinks."""
    await asyncio.Event().wait()
    return failure(-32000, "never")


@pytest.fixture
def a_person_answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no test waits: however quick an answer is, a person may have given it."""
    monkeypatch.setattr("tooltray.protocol.sessions.elicitation_form.AT_ONCE_S", 0.0)


CLOSED: list[Any] = [{"action": "accept", "content": {"answer": " "}}, {"action": "accept"}, {"action": "decline"}]
HEADLESS: list[Any] = [*CLOSED, {"action": "cancel"}, failure(-32601, "no"), raw(b"[" * 100_000 + b"]" * 100_000), ["x"]]


async def test_where_no_window_is_the_clients_own_person_is_asked(made: Made) -> None:
    async with made(has_window=False) as parts:
        answer = {"action": "accept", "content": {"answer": "From the client"}}
        call = Waiting(parts, parts.client(capabilities=FORM, answer=answer))
        assert texts(await call.result()) == ["From the client"]
        ((method, params),) = call.client.asked.all
        assert (method, params["message"]) == ("elicitation/create", "# Done")
        assert params["requestedSchema"]["required"] == ["answer"]


@pytest.mark.parametrize("answer", CLOSED)
async def test_a_person_closes_the_clients_form(made: Made, answer: Any, a_person_answers_at_once: None) -> None:
    async with made(has_window=False) as parts:
        call = Waiting(parts, parts.client(capabilities=FORM, answer=answer))
        assert texts(await call.result())[0].startswith("The user closed")
        assert parts.feedbacks.waiting() == []


@pytest.mark.parametrize("answer", HEADLESS)
async def test_a_client_that_shows_its_form_to_nobody_says_so_and_the_report_stays(made: Made, answer: Any) -> None:
    async with made(has_window=False) as parts:
        client = parts.client(capabilities=FORM, answer=answer)
        (text,) = texts(await Waiting(parts, client).result())
        [report] = parts.feedbacks.waiting()
        assert text.startswith("The AI client was asked to show the report, and no one answered there. The report is kept")
        assert f"it waits in Tooltray as {report.id}" in text
        again = Waiting(parts, client)  # it is asked anew, and another call waits with it
        assert "no one answered there" in texts(await again.result())[0]
        await parts.feedbacks.answer(report.id, "Yes", ())
        assert texts(await Waiting(parts, client).result())[0] == "Yes"


async def test_where_neither_a_window_nor_a_form_is_that_is_said_at_once(made: Made) -> None:
    async with made(has_window=False) as parts:
        client = parts.client(capabilities={"elicitation": {"url": {}}})
        (text,) = texts(await Waiting(parts, client).result())
        [report] = parts.feedbacks.waiting()
        assert text.startswith(
            "The user cannot be asked: no Tooltray window is open, and this AI client supports no forms. The report is kept"
        )
        assert f"it waits in Tooltray as {report.id}" in text
        assert client.asked.all == []
        await parts.feedbacks.answer(report.id, "Yes", ())
        assert texts(await Waiting(parts, client).result())[0] == "Yes"


async def test_calls_that_wait_with_one_that_was_left_alone_wait_no_longer(made: Made) -> None:
    go_on = asyncio.Event()

    async def leave(method: str) -> Any:
        await go_on.wait()
        return {"action": "cancel"}

    async with made(has_window=False) as parts:
        client = parts.client(capabilities=FORM, answer=leave)
        first = Waiting(parts, client)
        await client.asked.wait()
        second = Waiting(parts, client)
        await parts.heard.event(FeedbackAsked, count=2)
        go_on.set()
        for call in (first, second):
            assert "no one answered there" in texts(await call.result())[0]


async def test_an_answer_of_the_command_line_withdraws_the_question(made: Made) -> None:
    withdrawn = Record[str]()

    async def think(method: str) -> Envelope:
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.add(method)
        return failure(-32000, "never")

    async with made(has_window=False) as parts:
        client = parts.client(capabilities=FORM, answer=think)
        first = Waiting(parts, client)
        await client.asked.wait()
        second = Waiting(parts, client)
        await parts.heard.event(FeedbackAsked, count=2)
        assert texts(await first.answer()) == texts(await second.result()) == ["Yes"]
        await withdrawn.wait()
        assert len(client.asked.all) == 1


async def test_an_answer_that_comes_too_late_from_the_client_changes_nothing(made: Made) -> None:
    is_late = asyncio.Event()

    async with made(has_window=False) as hub:

        async def late(method: str) -> Any:
            await hub.feedbacks.answer(hub.feedbacks.waiting()[0].id, "First", ())
            is_late.set()
            return {"action": "accept", "content": {"answer": "Second"}}

        call = Waiting(hub, hub.client(capabilities=FORM, answer=late))
        assert texts(await call.result())[0] == "First"
        await is_late.wait()


async def test_nobody_is_asked_twice(made: Made) -> None:
    async with made() as parts:
        call = Waiting(parts, parts.client(capabilities=FORM))
        assert texts(await call.answer())[0] == "Yes"
        assert call.client.asked.all == []


async def test_a_modern_client_is_asked_by_the_result_of_its_call(made: Made) -> None:
    async with made(has_window=False) as parts:
        client = parts.client()
        required = await Waiting(parts, client, is_modern=True).result()
        assert required["resultType"] == "input_required"
        ((key, question),) = required["inputRequests"].items()
        assert (question["method"], question["params"]["message"]) == ("elicitation/create", "# Done")
        answers = {"inputResponses": {key: {"action": "accept", "content": {"answer": "Yes"}}}, "requestState": required["requestState"]}
        reply = await parts.call(COLLECT_FEEDBACK, client, is_modern=True, arguments={"work_summary": "# Done"}, **answers)
        assert texts(reply["result"]) == ["Yes"]


async def settled() -> None:
    """Until everything that waited for something has gone on."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_an_answer_of_the_command_line_is_not_lost_while_a_modern_client_is_away_with_the_question(made: Made) -> None:
    async with made(has_window=False) as parts:
        client = parts.client()
        required = await Waiting(parts, client, is_modern=True).result()
        await parts.feedbacks.answer(parts.feedbacks.waiting()[0].id, "From the shell", ())
        await settled()
        again = await Waiting(parts, client, is_modern=True, work_summary="# New").result()
        assert texts(again)[0] == "From the shell"
        ((key, _),) = required["inputRequests"].items()
        cancelled = {"inputResponses": {key: {"action": "cancel"}}, "requestState": required["requestState"]}
        late = await parts.call(COLLECT_FEEDBACK, client, is_modern=True, arguments={"work_summary": "# Done"}, **cancelled)
        assert texts(late["result"]) == ["From the shell"]


async def test_a_modern_client_that_comes_back_with_no_answer_takes_that_of_the_command_line(made: Made) -> None:
    async with made(has_window=False) as parts:
        client = parts.client(capabilities=FORM, answer=never)
        required = await Waiting(parts, client, is_modern=True).result()
        await parts.feedbacks.answer(parts.feedbacks.waiting()[0].id, "From the shell", ())
        await settled()
        ((key, _),) = required["inputRequests"].items()
        cancelled = {"inputResponses": {key: {"action": "cancel"}}, "requestState": required["requestState"]}
        reply = await parts.call(COLLECT_FEEDBACK, client, is_modern=True, arguments={"work_summary": "# Done"}, **cancelled)
        assert texts(reply["result"]) == ["From the shell"]
        fresh = Waiting(parts, client, work_summary="# Next")
        assert texts(await fresh.answer("Fresh", count=2)) == ["Fresh"]


async def test_an_answer_in_the_client_that_is_too_long_is_cut_and_not_lost(made: Made) -> None:
    async with made(has_window=False) as parts:
        answer = {"action": "accept", "content": {"answer": "x" * (LONGEST_ANSWER + 1)}}
        result = await Waiting(parts, parts.client(capabilities=FORM, answer=answer)).result()
        assert texts(result)[0] == "x" * LONGEST_ANSWER


# what others see of it


async def test_a_persons_time_is_not_the_servers(parts: HubParts) -> None:
    await Waiting(parts).answer()
    assert (sum(parts.stats.hours("hub", time.time())), parts.stats.percentile_ms("hub", 0.95)) == (1, 0.0)
    await parts.call("list_servers")
    assert parts.stats.percentile_ms("hub", 0.95) > 0


async def test_known_secrets_in_a_report_are_shown_to_nobody(parts: HubParts) -> None:
    client = parts.client()
    call = Waiting(parts, client, work_summary="# hunter2")
    shown = await call.report()
    assert shown.summary == "# ***"
    await call.given_up()
    await parts.feedbacks.answer(shown.id, "Yes", ())
    assert "has not seen" not in texts(await Waiting(parts, client, work_summary="# hunter2").result())[-1]


async def test_it_is_called_by_call_tool_as_by_its_name(parts: HubParts) -> None:
    client = parts.client()
    inner = {"name": COLLECT_FEEDBACK, "arguments": {"work_summary": "# Inner"}}
    calling = parts.call("call_tool", client, arguments=inner, _meta={"progressToken": "t"})
    call = TaskKeeper().spawn(calling, name="call")
    event: FeedbackAsked = await parts.heard.event(FeedbackAsked)
    assert event.request.summary == "# Inner"
    _, params = await client.told.wait()
    assert params["progressToken"] == "t"
    await parts.feedbacks.answer(event.request.id, "Yes", ())
    assert texts((await call)["result"]) == ["Yes"]


# the project's servers


class Project:
    """What becomes of a model's word on its project, as a test decides."""

    def __init__(self, report: ProjectReport | Exception) -> None:
        self.report, self.may_end, self.asked = report, asyncio.Event(), Record[tuple[str, str]]()
        self.may_end.set()

    async def reported(self, state: Any, name: str, path: str) -> ProjectReport:
        self.asked.add((name, path))
        await self.may_end.wait()
        if isinstance(self.report, Exception):
            raise self.report
        return self.report


def with_project(parts: HubParts, report: ProjectReport | Exception) -> Project:
    """Puts a scripted project in the place of the real ones."""
    project = Project(report)
    parts.projects.reported = project.reported  # type: ignore[method-assign]
    return project


async def test_the_last_block_names_what_started_what_failed_and_the_tools_that_came(made: Made) -> None:
    program = ScriptedServer(
        tool("find_symbol"), tool("hidden"), tool("not_in_profile"), tool("of_views", _meta={"ui": {"visibility": ["app"]}})
    )
    settings = {"profiles": {"few": {"tools": {"serena": ["find_symbol", "hidden", "of_views"]}}}}
    async with made(servers={"serena": entry("p", disabledTools=["hidden"])}, programs={"p": program}, settings=settings) as parts:
        await parts.presenter.start_server("serena")
        client = parts.client(name="Claude")
        client.state.profile = "few"
        project = with_project(parts, ProjectReport(("serena",), (("broken", "exit\x1b[2J code 1"),), "be warned"))
        result = await Waiting(parts, client, project_name="shop", project_path="/code/shop").answer()
        assert project.asked.all == [("shop", "/code/shop")]
        assert texts(result) == [
            "Yes",
            "Notes from Tooltray:\n"
            "- Server 'serena' has started for this project. Its tools: find_symbol.\n"
            "- Server 'broken' did not start: exit[2J code 1\n"
            "- be warned",
        ]


async def test_a_session_of_the_hub_alone_is_not_told_of_tools_that_it_cannot_call(made: Made) -> None:
    async with made(servers={"serena": entry("p")}, programs={"p": ScriptedServer(tool("find_symbol"))}) as parts:
        await parts.presenter.start_server("serena")
        with_project(parts, ProjectReport(("serena",)))
        client = parts.client()
        client.state.server = "hub"
        assert texts(await Waiting(parts, client).answer())[-1] == "Notes from Tooltray:\n- Server 'serena' has started for this project."


async def test_an_answer_does_not_wait_for_ever_for_servers(parts: HubParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.gateway.feedback.feedback_tool.START_WAIT_S", 0.0)
    project = with_project(parts, ProjectReport())
    project.may_end.clear()
    assert "still starting" in texts(await Waiting(parts).answer())[-1]
    project.may_end.set()


@pytest.mark.expected_warnings("'start servers of a project' failed")
async def test_a_bug_in_a_start_does_not_cost_the_answer(parts: HubParts) -> None:
    with_project(parts, RuntimeError("a bug"))
    assert texts(await Waiting(parts).answer()) == ["Yes"]


async def test_an_answer_is_kept_when_the_call_is_given_up_while_servers_start(parts: HubParts) -> None:
    project = with_project(parts, ProjectReport())
    project.may_end.clear()
    client = parts.client()
    call = Waiting(parts, client)
    shown = await call.report()
    await parts.feedbacks.answer(shown.id, "Yes", ())
    await call.given_up()
    project.may_end.set()
    assert texts(await Waiting(parts, client).result())[0] == "Yes"


def test_long_lists_of_tools_are_cut_and_a_server_without_tools_is_named() -> None:
    assert started_note("s", [str(number) for number in range(MOST_TOOLS_NAMED + 2)]).endswith("39 and 2 more.")
    assert started_note("s", []) == "Server 's' has started for this project."
    assert len(failed_note("s", "x" * 5000)) < 1100
    assert notes_block(["", ""]) == []


async def test_where_models_may_not_report_there_is_no_such_tool(made: Made) -> None:
    async with made(reports=False) as parts:
        assert await parts.listed() == ["list_servers", "server_status"]
        assert "Unknown tool" in (await parts.call(COLLECT_FEEDBACK, arguments={"work_summary": "x"}))["error"]["message"]


async def test_arguments_that_cannot_be_read_are_refused(parts: HubParts) -> None:
    params = Raw(b'{"name":"collect_feedback","arguments":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    client = parts.client()
    reply = await parts.feedback_tool(exchange_of(Envelope(method="tools/call", params=params), client))
    assert b"cannot be read" in bytes(reply.error)
