"""api.py, log_reader.py: the pages of logs in files."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.hub_parts import HubParts, hub_parts, one_server
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Denied, NotFound, TooltrayError
from tooltray.foundation.snapshots.activity import LogFilter, LogPage
from tooltray.records.log.masking import Mask
from tooltray.servers.logs.api import LogsApi
from tooltray.servers.logs.protocol_log import MAX_FOR_S


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        yield parts


@pytest.fixture
def logs(parts: HubParts) -> LogsApi:
    return parts.logs_api


def texts(page: LogPage) -> list[str]:
    return [line.text for line in page.lines if line.kind != "mark"]


async def test_what_a_server_has_just_written_is_in_its_log_without_secrets(parts: HubParts, logs: LogsApi) -> None:
    parts.servers.get("s").log.append("key hunter2")
    parts.servers.get("s").log.append("ERROR it broke")
    page = await logs.get_log("server:s")
    assert texts(page) == ["key ***", "ERROR it broke"]
    assert texts(await logs.get_log("server:s", LogFilter(levels=("error",)))) == ["ERROR it broke"]
    parts.servers.get("s").log.append("more")
    assert texts(await logs.get_log("server:s", after=page.after)) == ["more"]


@pytest.mark.parametrize(("secrets", "shown"), [({"hunter2"}, "***"), (set[str](), "hunter2")])
async def test_the_secrets_are_read_once_for_a_page_and_are_hidden_in_details_too(parts: HubParts, secrets: set[str], shown: str) -> None:
    readings: list[int] = []
    logs = LogsApi(
        servers=parts.servers,
        keeper=parts.log_keeper,
        pages=parts.log_pages,
        messages=parts.protocol_log,
        mask=Mask(lambda: (readings.append(1), secrets)[1]),
    )
    record = {"timestamp": "2026-11-24T10:00:00.000Z", "summary": "hunter2", "event": "log"}
    parts.home.logs.mkdir(exist_ok=True)
    (parts.home.logs / "tooltray-2026-11-24.jsonl").write_text(f"{json.dumps(record)}\n" * 3)
    lines = (await logs.get_log("hub")).lines
    assert {line.text for line in lines} == {shown}
    assert {json.loads(line.detail)["summary"] for line in lines} == {shown}
    assert len(readings) == 1


async def test_the_hubs_own_log_is_read_from_its_files(parts: HubParts, logs: LogsApi) -> None:
    parts.home.logs.mkdir(exist_ok=True)
    for day, text in (("2026-11-24", "first"), ("2026-11-25", "second"), ("2026-11-25-2", "third")):
        record = {"timestamp": f"{day[:10]}T10:00:00.000Z", "component": "c", "event": "log", "summary": text}
        (parts.home.logs / f"tooltray-{day}.jsonl").write_text(json.dumps(record, separators=(",", ":")) + "\n")
    assert texts(await logs.get_log("hub")) == ["c: first", "c: second", "c: third"]
    last = await logs.get_log("hub", limit=0)
    assert texts(last) == ["c: third"]
    assert texts(await logs.get_log("hub", before=last.before)) == ["c: first", "c: second"]


async def test_where_nothing_was_kept_yet_a_page_is_empty_and_a_server_that_is_not_there_is_said(logs: LogsApi) -> None:
    assert (await logs.get_log("hub")).lines == (await logs.get_log("server:s")).lines == ()
    for source in ("server:gone", "messages:gone", "elsewhere"):
        with pytest.raises(NotFound):
            await logs.get_log(source)


async def test_the_log_of_a_server_that_was_removed_can_still_be_read(parts: HubParts, logs: LogsApi) -> None:
    parts.log_keeper.keep("gone", "last words")
    assert texts(await logs.get_log("server:gone")) == ["last words"]


async def test_what_makes_no_sense_is_refused(logs: LogsApi) -> None:
    assert "Level 'loud' not found" in await refusal(logs.get_log("hub", LogFilter(levels=("loud",))))
    assert "Level 'loud' not found" in await refusal(logs.get_log("messages:s", LogFilter(levels=("loud",))))
    assert "Invalid position in the log" in await refusal(logs.get_log("hub", before="yesterday"))


async def test_a_log_that_cannot_be_read_is_said(parts: HubParts, logs: LogsApi) -> None:
    (parts.home.logs / "tooltray-2026-11-24.jsonl").mkdir(parents=True)
    with pytest.raises(TooltrayError, match="The log cannot be read"):
        await logs.get_log("hub")


async def test_while_the_disk_takes_nothing_the_last_lines_in_memory_are_shown_and_why(parts: HubParts, logs: LogsApi) -> None:
    parts.home.logs.mkdir(exist_ok=True)
    parts.home.server_logs.write_text("no folder")
    for text in ("one", "ERROR two"):
        parts.servers.get("s").log.append(text)
    page = await logs.get_log("server:s")
    assert (texts(page), page.before) == (["one", "ERROR two"], "")
    assert page.problem is not None
    assert page.lines[1].level == "error"
    assert texts(await logs.get_log("server:s", LogFilter(text="TWO"))) == ["ERROR two"]
    for place in ({"before": "000001:9"}, {"after": "000001:9"}):
        assert texts(await logs.get_log("server:s", **place)) == []


async def test_messages_are_recorded_for_a_person_and_read_by_one_alone(parts: HubParts, logs: LogsApi) -> None:
    with asked_by(UNATTENDED):
        for work in (logs.set_protocol_log("s", 60), logs.get_log("messages:s")):
            with pytest.raises(Denied):
                await work
    await logs.set_protocol_log("s", 10**9)
    await parts.presenter.start_server("s")
    await parts.call("t", arguments={"key": "hunter2"})
    page = await logs.get_log("messages:s")
    sent = next(line for line in page.lines if line.text.startswith("tools/call t"))
    assert json.loads(sent.detail)["params"]["arguments"] == {"key": "***"}
    assert 0 < page.recorded_until - sent.at <= MAX_FOR_S + 1
    with asked_by(UNATTENDED):
        await logs.set_protocol_log("s", 0)
    assert (await logs.get_log("messages:s")).lines == ()
