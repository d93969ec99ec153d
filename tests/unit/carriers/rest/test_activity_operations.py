"""The journal over REST: rows page by page, filters in the query, figures; and what only a trusted program may do."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.hub_parts import entry as server_entry
from tests.fakes.journals import NOW, entry, written
from tests.fakes.rest_hub import READ_TOKEN, RestHub, rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.records.journal.journal_file import Contents

ENTRIES = (
    entry(at=NOW, touched="/a", contents=Contents("{}", "[]", False), published="files__read_file"),
    entry(at=NOW + 1, outcome="error", server="web", tool="get", client="Zed", session="s9", reason="gone"),
    entry(at=NOW + 2, kind="start", client="", tool="", project="/p"),
    entry(at=NOW + 3),
    entry(at=NOW + 4),
)


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[RestHub]:
    async with rest_hub(tmp_path, servers={"s": server_entry("p")}, programs={"p": ScriptedServer(tool("t"))}) as hub:
        written(hub.parts.home.activity, ENTRIES).close()
        yield hub
        hub.parts.journal_reader.close()


async def found(hub: RestHub, query: str) -> list[int]:
    return [row["entry"]["id"] for row in (await hub.ask("GET", f"/activity{query}", token=READ_TOKEN)).json]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", [5, 4, 3, 2, 1]),
        ("?kind=call&client=Cursor&server=files&tool=read_file", [5, 4, 1]),
        ("?outcome=error&text=GONE", [2]),
        ("?session=s9", [2]),
        ("?project=/p", [3]),
        (f"?since={NOW + 1}&until={NOW + 3}", [3, 2]),
        ("?before=3", [2, 1]),
        ("?collapsed=true", [5, 3, 2, 1]),
    ],
)
async def test_rows_are_filtered_by_the_query(hub: RestHub, query: str, ids: list[int]) -> None:
    assert await found(hub, query) == ids


async def test_rows_come_page_by_page(hub: RestHub) -> None:
    first = await hub.ask("GET", "/activity?limit=2&collapsed=true&kind=call")
    assert [(row["entry"]["id"], row["count"], row["firstId"]) for row in first.json] == [(5, 2, 4), (2, 1, 2)]
    rest = await hub.ask("GET", first.headers["Link"].partition("<")[2].partition(">")[0])
    assert [row["entry"]["id"] for row in rest.json] == [1]
    assert "Link" not in rest.headers


async def test_one_entry_is_shown_in_full_to_who_may_manage(hub: RestHub) -> None:
    full = (await hub.ask("GET", "/activity/1")).json
    assert (full["entry"]["touched"], full["entry"]["published"], full["arguments"], full["result"]) == (
        "/a",
        "files__read_file",
        "{}",
        "[]",
    )
    assert [(await hub.ask("GET", f"/activity/{id}")).status for id in ("9", "x", "9" * 40)] == [404, 404, 404]
    assert (await hub.ask("GET", "/activity/1", token=READ_TOKEN)).status == 403


async def test_figures_and_what_is_under_way(hub: RestHub) -> None:
    series = (await hub.ask("GET", f"/activity/series?bars=2&since={NOW}&until={NOW + 10}&server=files")).json
    assert [point["calls"] for point in series] == [3, 0]
    assert [each["name"] for each in (await hub.ask("GET", "/activity/figures?by=client")).json] == ["Cursor", "Zed"]
    assert (await hub.ask("GET", "/activity/figures?by=day")).status == 422
    assert (await hub.ask("GET", "/activity/counts?client=Zed")).json.keys() == {"entries", "failed", "refused"}
    assert (await hub.ask("GET", "/activity/choices")).json["projects"] == ["/p"]
    assert (await hub.ask("GET", "/activity/now")).json == []
    assert [each["tool"] for each in (await hub.ask("GET", "/activity/tools?days=9999")).json] == ["read_file", "get"]
    assert (await hub.ask("GET", "/activity/journal")).json["entries"] == 5


async def test_a_program_alone_neither_empties_the_journal_nor_writes_files(hub: RestHub, tmp_path: Path) -> None:
    for path, content in (("clear", None), ("undo-clear", None), ("export", {"path": str(tmp_path / "out")})):
        assert (await hub.ask("POST", f"/activity/{path}", content)).status == 403
    assert (await hub.ask("PATCH", "/settings", {"activity": {"contents": True}})).status == 403
    assert len(await found(hub, "")) == 5


async def test_a_trusted_program_may_write_an_export(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, is_trusted=True) as hub:
        written(hub.parts.home.activity, ENTRIES).close()
        answer = await hub.ask("POST", "/activity/export", {"path": str(tmp_path / "out"), "filter": {"kinds": ["call"]}})
        assert (answer.status, answer.json) == (200, {"entries": 4})
        hub.parts.journal_reader.close()
