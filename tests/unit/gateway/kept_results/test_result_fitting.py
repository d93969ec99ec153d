"""result_fitting.py and result_reading.py as one: what of a large result a client gets, and how it reads the rest."""

import asyncio
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.full_disk import full_disk
from tests.fakes.hub_parts import Client, HubParts, hub_parts, started_parts
from tests.fakes.scripted_server import ScriptedServer, raw, text, tool

from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.gateway.kept_results import result_fitting
from tooltray.gateway.kept_results.result_fitting import MAX_CHARACTERS_KEY, READ_AT_ONCE_BYTES, allowed_characters
from tooltray.gateway.kept_results.result_parts import estimate_tokens
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.sessions.session_state import SessionFlow
from tooltray.protocol.task_messages import with_result
from tooltray.records.journal.journal_event import CALL, JournalEvent

LIMIT = 500
LINES = [f"line {number}: ünd word" for number in range(1, 2001)]
LARGE = "\n".join(LINES)


def served(*results: dict[str, Any], **members: Any) -> ScriptedServer:
    """A server whose tools `t0`, `t1`, ... have these results."""
    program = ScriptedServer(*(tool(f"t{number}", **members) for number in range(len(results))))
    for number, each in enumerate(results):
        program.calls[f"t{number}"] = lambda copy, params, each=each: each
    return program


def limited(program: ScriptedServer, settings: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    entry = {"command": "program", "autoApprove": ["all"], "resultLimit": LIMIT, **fields}
    return {"servers": {"s": entry}, "programs": {"program": program}, "settings": settings}


def owned(parts: HubParts, owner: str = "ann", client: str = "") -> Client:
    found = parts.client()
    found.state.owner, found.state.client = owner, client
    return found


async def cut(parts: HubParts, client: Client, name: str = "t0", **options: Any) -> tuple[dict[str, Any], str]:
    """The result of a call, and its handle; empty if it was not cut."""
    result = (await parts.call(name, client, **options))["result"]
    match = re.search(r'"handle": "(\w+)"', str(result["content"][-1].get("text"))) if result["content"] else None
    return result, match[1] if match else ""


async def read(parts: HubParts, client: Client, handle: str, server: str | None = None, **arguments: Any) -> tuple[str, str]:
    """What `read_result` gives, and what it says of it."""
    reply = await parts.call("read_result", client, server=server, arguments={"handle": handle, **arguments})
    result = reply["result"]
    if result.get("isError"):
        return "", result["content"][0]["text"]
    return result["content"][0]["text"], result["content"][1]["text"]


async def all_pages(parts: HubParts, client: Client, handle: str, **arguments: Any) -> list[str]:
    pages, note = [], '"offset": 0'
    while match := re.search(r'continue with .*"offset": (\d+)', note) or (re.search(r'"offset": (0)', note) if not pages else None):
        page, note = await read(parts, client, handle, offset=int(match[1]), **arguments)
        pages.append(page)
    return pages


# what is cut


async def test_a_large_result_becomes_its_beginning_and_a_handle_and_pages_give_the_very_text(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **limited(served({**text(LARGE), "isError": False, "_meta": {"a": 1}}))) as parts:
        client = owned(parts)
        result, handle = await cut(parts, client)
        beginning, notice = (block["text"] for block in result["content"])
        assert LARGE.startswith(beginning)
        assert estimate_tokens((beginning + notice).encode()) <= LIMIT
        assert f"{len(LARGE.encode()):,} bytes" in notice
        assert f'"offset": {len(beginning.encode())}' in notice
        assert (result["isError"], result["_meta"]) == (False, {"a": 1})
        pages = await all_pages(parts, client, handle)
        assert "".join(pages) == LARGE
        assert all(estimate_tokens(page.encode()) <= LIMIT for page in pages)


async def test_a_result_within_the_limit_comes_as_the_server_wrote_it(tmp_path: Path) -> None:
    result = {**text("word " * 400), "structuredContent": {"n": 1}}
    async with started_parts(tmp_path, **limited(served(result, text("small")))) as parts:
        assert await cut(parts, owned(parts)) == (result, "")
        assert (await parts.call("t1", owned(parts)))["result"] == text("small")


@pytest.mark.parametrize(
    ("fields", "client_limit", "is_cut"),
    [
        ({"resultLimit": 3000}, None, True),
        ({"resultLimit": 90_000}, None, False),
        ({"resultLimit": 3000, "toolOverrides": {"t0": {"resultLimit": 90_000}}}, None, False),
        ({"resultLimit": 9000, "toolOverrides": {"t0": {"resultLimit": 3000}}}, None, True),
        ({"resultLimit": 90_000}, 3000, True),
        ({"resultLimit": 3000}, 9000, True),
        ({"resultLimit": None}, 3000, True),
        ({"resultLimit": None}, None, False),
    ],
)
async def test_the_smallest_limit_counts_and_a_tools_own_before_its_servers(
    tmp_path: Path, fields: dict[str, Any], client_limit: int | None, is_cut: bool
) -> None:
    settings = {"publish": {"clients": {"c": {"resultLimit": client_limit}}}}
    async with started_parts(tmp_path, **limited(served(text(LARGE)), settings, **fields)) as parts:
        assert bool((await cut(parts, owned(parts, client="c")))[1]) is is_cut


async def test_a_person_gets_all_of_it(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **limited(served(text(LARGE)))) as parts:
        client = owned(parts)
        client.state.is_persons = True
        assert (await cut(parts, client))[0] == text(LARGE)


async def test_other_contents_stay_if_they_fit_and_are_read_whole_if_not(tmp_path: Path) -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    blob = {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "application/zip", "blob": "A" * 90_000}}
    written = {"type": "resource", "resource": {"uri": "file:///t", "text": LARGE}}
    result = {"content": [{"type": "text", "text": "first", "annotations": {"priority": 1}}, image, blob, written]}
    async with started_parts(tmp_path, **limited(served(result), resultLimit=2500)) as parts:
        client = owned(parts)
        shown, handle = await cut(parts, client)
        assert shown["content"][:2] == result["content"][:2]
        assert shown["content"][2].keys() == {"type", "text"}
        assert LARGE.startswith(shown["content"][2]["text"])
        notice = shown["content"][-1]["text"]
        assert "part 3: resource file:///b application/zip" in notice
        assert f'"handle": "{handle}", "part": 3}}' in notice
        reply = await parts.call("read_result", client, arguments={"handle": handle, "part": 3})
        assert reply["result"]["content"][0] == blob
        assert "".join(await all_pages(parts, client, handle, part=4)) == LARGE


async def test_structured_content_that_repeats_the_text_is_not_counted_and_goes_where_the_text_is_cut(tmp_path: Path) -> None:
    value = {"items": [{"n": number, "name": f"a b {number}"} for number in range(400)]}
    twice = {**text(json.dumps(value, indent=1)), "structuredContent": value}
    wrapped = {**text(LARGE), "structuredContent": {"result": LARGE}}
    other = {**text("only a word"), "structuredContent": {"rows": [LARGE, 7]}}
    async with started_parts(tmp_path, **limited(served(twice, wrapped, other))) as parts:
        client = owned(parts)
        for name in ("t0", "t1"):
            result, handle = await cut(parts, client, name)
            assert "structuredContent" not in result
            assert "part" not in result["content"][-1]["text"].partition("]")[0]
            assert len(await all_pages(parts, client, handle)) > 1
        result, handle = await cut(parts, client, "t2")
        assert "part 2: structuredContent" in result["content"][-1]["text"]
        page, note = await read(parts, client, handle, part=2, offset=len(dump(other["structuredContent"])) - 2)
        assert (page, "the end" in note) == ("]}", True)


async def test_what_a_view_shows_keeps_its_structured_content(tmp_path: Path) -> None:
    result = {**text(LARGE), "structuredContent": {"rows": [LARGE]}}
    view = {"_meta": {"ui": {"resourceUri": "ui://v"}}, "outputSchema": {"type": "object"}}
    async with started_parts(tmp_path, **limited(served(result, **view))) as parts:
        client = owned(parts)
        client.state.shows_views = True
        shown, handle = await cut(parts, client)
        assert handle
        assert shown["structuredContent"] == result["structuredContent"]


async def test_a_host_that_takes_larger_results_of_a_tool_gets_them(tmp_path: Path) -> None:
    program = served(
        text(LARGE),
        {"content": [*text(LARGE)["content"], {"type": "image", "data": ""}]},
        text(LARGE * 4),
        _meta={MAX_CHARACTERS_KEY: 100_000},
    )
    async with started_parts(tmp_path, **limited(program)) as parts:
        assert (await cut(parts, owned(parts, client="claude-code")))[0] == text(LARGE)
        assert (await cut(parts, owned(parts, client="claude-code"), "t1"))[1]
        assert (await cut(parts, owned(parts, client="claude-code"), "t2"))[1]
        assert (await cut(parts, owned(parts, client="other")))[1]


@pytest.mark.parametrize(("said", "characters"), [(7, 7), (10**9, 500_000), (-1, 0), ('"x"', 0), ("1.5", 0)])
def test_how_many_characters_a_definition_allows(said: object, characters: int) -> None:
    raw = dump({"name": "t"}) if said is None else dump({"_meta": {MAX_CHARACTERS_KEY: said}})
    assert allowed_characters(raw) == characters


@pytest.mark.parametrize("result", [{"content": 7}, {"content": [7]}, {"other": "x" * 90_000}, {"content": []}])
async def test_what_is_no_result_of_a_tool_passes(tmp_path: Path, result: dict[str, Any]) -> None:
    result["padding"] = "word " * 9000
    async with started_parts(tmp_path, **limited(served(result))) as parts:
        assert (await parts.call("t0", owned(parts)))["result"] == result


async def test_a_result_that_is_no_object_is_an_error_and_not_cut(tmp_path: Path) -> None:
    program = served(text(""))
    program.calls["t0"] = lambda copy, params: raw(b'["%b"]' % (b"word " * 900))
    async with started_parts(tmp_path, **limited(program)) as parts:
        assert "its result is not an object" in (await parts.call("t0", owned(parts)))["error"]["message"]


@pytest.mark.expected_warnings("delivered whole")
async def test_on_a_full_disk_the_result_is_whole_and_a_person_is_told(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **limited(served(text(LARGE)))) as parts:
        with full_disk():
            assert (await cut(parts, owned(parts)))[0] == text(LARGE)
        assert "delivered whole" in str(parts.result_fitting.problems)
        assert (await cut(parts, owned(parts)))[1]
        assert parts.result_fitting.problems == ()


async def test_the_record_says_how_large_it_was_and_the_time_of_cutting_is_not_the_servers(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **limited(served(text(LARGE)))) as parts:
        happened: list[JournalEvent] = []
        parts.bus.subscribe(JournalEvent, happened.append)
        await cut(parts, owned(parts))
        call = next(each for each in happened if each.kind == CALL)
        assert call.reason == f"cut {len(dump(text(LARGE)))}"
        assert call.result_bytes < 10_000


@pytest.mark.parametrize("is_modern", [True, False])
async def test_the_result_of_a_task_is_cut_too(tmp_path: Path, is_modern: bool) -> None:
    async with started_parts(tmp_path, **limited(served(text(LARGE)))) as parts:
        await parts.listed()
        exchange = exchange_of(Envelope(method="tasks/get", params=dump({})), owned(parts))

        async def fit(reply: Envelope) -> Envelope:
            return await parts.result_fitting.fit_task("s", "t0", exchange, reply)

        task = {"taskId": "1", "status": "completed", "result": text(LARGE)} if is_modern else text(LARGE)
        reply = await with_result(Envelope(result=dump(task)), is_modern, fit)
        assert len(bytes(reply.result)) < 10_000
        assert b"read_result" in bytes(reply.result)
        for other in ([], {"taskId": "1"}, {"result": {"content": []}}):
            before = Envelope(result=dump(other))
            assert await with_result(before, True, fit) is before
        assert await parts.result_fitting.fit_task("s", "none", exchange, before) is before


async def test_what_stands_behind_a_text_that_is_cut_is_named(tmp_path: Path) -> None:
    blocks = [*text(LARGE)["content"], *text("the end")["content"] * 29, *text("")["content"]]
    async with started_parts(tmp_path, **limited(served({"content": blocks}))) as parts:
        client = owned(parts)
        result, handle = await cut(parts, client)
        assert len(result["content"]) == 2
        assert "part 20: text, 7 bytes\nand 11 more parts" in result["content"][1]["text"]
        assert (await read(parts, client, handle, part=30))[0] == "the end"
        assert (await read(parts, client, handle, part=31))[0] == ""


# who reads it


async def test_a_handle_of_another_client_project_or_server_is_unknown(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **limited(served(text(LARGE)))) as parts:
        client = owned(parts)
        client.state.projects["roots"] = SessionProject("/p", "p", "roots")
        _, handle = await cut(parts, client)
        strangers = [owned(parts, "bob"), owned(parts), owned(parts), owned(parts, "")]
        strangers[2].state.projects["roots"] = SessionProject("/q", "q", "roots")
        strangers.append(owned(parts))
        strangers[-1].state.projects, strangers[-1].state.server = client.state.projects, "other"
        answers = [await read(parts, stranger, handle) for stranger in strangers]
        assert set(answers) == {await read(parts, client, "r0")}
        again = owned(parts)  # the same client after its connection was lost
        again.state.projects["roots"] = SessionProject("/p", "p", "roots")
        assert (await read(parts, again, handle))[0]
        early = owned(parts)
        _, handle = await cut(parts, early)
        early.state.projects["roots"] = SessionProject("/p", "p", "roots")  # known only after the call
        assert (await read(parts, early, handle))[0]


async def test_a_profile_without_its_tool_has_no_result_of_it_either(tmp_path: Path) -> None:
    settings = {"profiles": {"few": {"servers": ["s"], "tools": {"s": ["t1"]}}, "none": {"servers": []}}}
    async with started_parts(tmp_path, **limited(served(text(LARGE), text("")), settings)) as parts:
        _, handle = await cut(parts, owned(parts))
        few, none = owned(parts), owned(parts)
        few.state.profile, none.state.profile = "few", "none"
        assert "no result has this handle" in (await read(parts, few, handle))[1]
        await parts.conf.change_server("s", disabled_tools=["t0"])
        assert (await read(parts, owned(parts), handle))[0], "it was given before"
        assert "no result has this handle" in (await read(parts, none, handle))[1]


async def test_what_strangers_wrote_counts_for_the_session_that_reads_it_later(tmp_path: Path) -> None:
    settings = {"approvals": {"flowGuard": True}}
    program = served(text(LARGE))
    async with started_parts(tmp_path, **limited(program, settings, toolOverrides={"t0": {"flow": "reads"}})) as parts:
        await parts.listed()
        _, handle = await cut(parts, owned(parts))
        later = owned(parts)
        await read(parts, later, handle)
        of_task = owned(parts)
        exchange = exchange_of(Envelope(method="tasks/result", params=dump({})), of_task)
        await parts.result_fitting.fit_task("s", "t0", exchange, Envelope(result=dump(text(""))))
        assert later.state.flow == of_task.state.flow == SessionFlow("s", "t0")


async def test_the_next_hub_has_it_too(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **limited(served(text(LARGE)))) as parts:
        _, handle = await cut(parts, owned(parts))
    async with hub_parts(tmp_path, **limited(served(text(LARGE)))) as parts:
        assert (await read(parts, owned(parts), handle))[0]
        parts.result_store.data(parts.result_store.find(handle)).unlink()
        assert "no result has this handle" in (await read(parts, owned(parts), handle))[1]


# reading


async def test_lines_and_words(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **limited(served(text(LARGE), text(LARGE + "\n")))) as parts:
        client = owned(parts)
        for name in ("t0", "t1"):
            _, handle = await cut(parts, client, name)
            page, note = await read(parts, client, handle, lines="100-102")
            assert page == "\n".join(LINES[99:102]) + "\n"
            assert '"offset"' in note
            assert (await read(parts, client, handle, lines="2000-3000"))[0].rstrip("\n") == LINES[-1]
            assert "line 2,001 does not exist" in (await read(parts, client, handle, lines="2001"))[1]
            assert (await read(parts, client, handle, grep="line 777:"))[0] == f"777: {LINES[776]}\n"
            assert "no line with these words" in (await read(parts, client, handle, grep="line 77[78]:"))[1]
            hits = "".join(await all_pages(parts, client, handle, grep="word"))
            assert hits == "".join(f"{number}: {line}\n" for number, line in enumerate(LINES, 1))
        long_range = "".join(await all_pages(parts, client, handle, lines="1-300"))
        assert long_range == "\n".join(LINES[:300]) + "\n"


async def test_large_texts_of_any_characters_are_read_in_pieces(tmp_path: Path) -> None:
    lines = [f"漢{'é' * (number % 7)}🎉 {number}\n" for number in range(30_000)]
    async with started_parts(tmp_path, **limited(served(text("".join(lines))))) as parts:
        client = owned(parts)
        _, handle = await cut(parts, client)
        assert (await read(parts, client, handle, lines="29000-29002"))[0] == "".join(lines[28999:29002])
        assert (await read(parts, client, handle, grep=" 29999"))[0] == f"30000: {lines[29999]}"
        assert "it has 30,000" in (await read(parts, client, handle, lines="30001"))[1].replace("this part has", "it has")


async def test_a_text_without_lines_is_searched_and_read_all_the_same(tmp_path: Path) -> None:
    value = {"a": ["ü x"] * 3000 + ["needle"], "n": [1.10, 2]}
    async with started_parts(tmp_path, **limited(served(text(json.dumps(value, ensure_ascii=False))))) as parts:
        client = owned(parts)
        _, handle = await cut(parts, client)
        hit, note = await read(parts, client, handle, grep="needle")
        assert hit.startswith("1 (byte ")
        assert "these are all matches" in note
        assert "these are all matches" in (await read(parts, client, handle, grep="2]}"))[1]
        assert "".join(await all_pages(parts, client, handle)) == json.dumps(value, ensure_ascii=False)
        assert (await read(parts, client, handle, offset=len('{"a": ["ü')))[0].startswith(' x", "ü')  # not in the middle of a character


async def test_a_line_that_is_larger_than_a_page_is_cut_and_read_on(tmp_path: Path) -> None:
    lines = ["7," * 190 + f"needle {number}" for number in range(300)]
    async with started_parts(tmp_path, **limited(served(text("\n".join(lines))))) as parts:
        client = owned(parts)
        _, handle = await cut(parts, client)
        hit, note = await read(parts, client, handle, grep="needle")
        assert hit == f"1: {lines[0]}"[: len(hit)]
        assert f'the line is cut, and there may be more: continue with "offset": {len(lines[0])}' in note


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"part": 2}, "no part 2"),
        ({"offset": 10**9}, "past the end"),
        ({"grep": "word", "offset": 10**30}, "no line with these words"),
        ({"grep": ""}, "cannot search for this"),
        ({"grep": "a\nb"}, "cannot search for this"),
        ({"grep": "x" * 1001}, "cannot search for this"),
        ({"path": "$"}, "cannot use these arguments"),
        ({"offset": "x"}, "cannot use these arguments"),
    ],
)
async def test_what_cannot_be_read_is_said_in_words(tmp_path: Path, arguments: dict[str, Any], why: str) -> None:
    async with started_parts(tmp_path, **limited(served(text(LARGE)))) as parts:
        client = owned(parts)
        _, handle = await cut(parts, client)
        assert why in (await read(parts, client, handle, **arguments))[1]


# where the tool that reads is listed


async def listing(parts: HubParts, client: Client, server: str | None = None) -> dict[str, Any]:
    client.state.server = server
    reply = await parts.router.answer(exchange_of(Envelope(method="tools/list", params=dump({})), client, server=server))
    return {each["name"]: each for each in json.loads(bytes(reply.result))["tools"]}


@pytest.mark.parametrize("server", [None, "s"])
async def test_the_tool_is_listed_while_a_limit_applies_and_so_are_tools_without_the_schema_of_their_results(
    tmp_path: Path, server: str | None
) -> None:
    fields = {"resultLimit": None, "toolOverrides": {"t0": {"resultLimit": LIMIT}}}
    async with started_parts(tmp_path, **limited(served(text(LARGE), text(""), outputSchema={"type": "object"}), **fields)) as parts:
        client = owned(parts)
        tools = await listing(parts, client, server)
        assert ["outputSchema" in tools[name] for name in ("t0", "t1", "read_result")] == [False, True, False]
        _, handle = await cut(parts, client, server=server)
        assert (await read(parts, client, handle, server))[0]
        await parts.conf.change_server("s", tool_overrides=None)
        await asyncio.sleep(0)
        tools = await listing(parts, client, server)
        assert ["outputSchema" in tools["t0"], "read_result" in tools] == [True, False]


async def test_a_server_that_has_such_a_tool_keeps_its_own(tmp_path: Path) -> None:
    program = served(text(LARGE))
    program.tools.append(tool("read_result"))
    async with started_parts(tmp_path, **limited(program)) as parts:
        client = owned(parts)
        for server, name in ((None, "hub_read_result"), ("s", "hub_read_result")):
            found = await listing(parts, client, server)
            assert {"read_result", name} <= found.keys()
            result, handle = await cut(parts, client, server=server)
            assert f"call {name} with" in result["content"][-1]["text"]
            reply = await parts.call(name, client, server=server, arguments={"handle": handle})
            assert LARGE.startswith(reply["result"]["content"][0]["text"])


async def test_kinds_of_clients_have_lists_of_their_own(tmp_path: Path) -> None:
    settings = {"publish": {"clients": {"c": {"resultLimit": LIMIT}}}}
    program = served(text(LARGE), outputSchema={"type": "object"})
    async with started_parts(tmp_path, **limited(program, settings, resultLimit=None)) as parts:
        limited_client, other = owned(parts, client="c"), owned(parts, client="d")
        lists = [await listing(parts, each) for each in (limited_client, other, limited_client)]
        assert [("read_result" in each, "outputSchema" in each["t0"]) for each in lists] == [(True, False), (False, True), (True, False)]


# said once


@pytest.mark.parametrize("size", [10, 20_000])
async def test_what_is_said_twice_is_said_once_to_a_client_that_reads_one_of_both(tmp_path: Path, size: int) -> None:
    value = {"rows": ["word"] * size}
    twice = {**text(json.dumps(value)), "structuredContent": value, "isError": False}
    other = {**text("a word"), "structuredContent": {"rows": []}}
    settings = {"publish": {"clients": {"c": {"reads": "text"}, "d": {"reads": "structured"}}}}
    program = served(twice, other, text("a"), outputSchema={"type": "object"})
    async with started_parts(tmp_path, **limited(program, settings, resultLimit=None)) as parts:
        text_reader, structure_reader, unknown = (owned(parts, client=name) for name in "cde")
        lists = [await listing(parts, each) for each in (text_reader, structure_reader, unknown)]
        assert [("read_result" in each, "outputSchema" in each["t0"]) for each in lists] == [(False, False), (False, True), (False, True)]
        without = {"content": twice["content"], "isError": False}
        assert (await parts.call("t0", text_reader))["result"] == without
        assert (await parts.call("t0", structure_reader))["result"] == {**twice, "content": []}
        assert (await parts.call("t0", unknown))["result"] == twice
        for name, result in (("t1", other), ("t2", text("a"))):
            assert (await parts.call(name, text_reader))["result"] == result


@pytest.mark.parametrize(("words", "is_at_once"), [(10, True), (READ_AT_ONCE_BYTES, False)])
async def test_a_large_result_is_looked_through_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: int, is_at_once: bool
) -> None:
    threads: list[int] = []
    monkeypatch.setattr(result_fitting, "without_repetition", lambda result, reads: threads.append(threading.get_ident()))
    settings = {"publish": {"clients": {"c": {"reads": "text"}}}}
    twice = {**text("x" * words), "structuredContent": {}}
    async with started_parts(tmp_path, **limited(served(twice), settings, resultLimit=None)) as parts:
        assert (await parts.call("t0", owned(parts, client="c")))["result"] == twice
    assert [thread == threading.get_ident() for thread in threads] == [is_at_once]
