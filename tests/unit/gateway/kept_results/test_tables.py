"""tables.py: which results become CSV, that CSV gives back the very values, and which settings decide."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.hub_parts import hub_parts, started_parts
from tests.fakes.scripted_server import ScriptedServer, text, tool

from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.kept_results import tables
from tooltray.gateway.kept_results.result_fitting import WRITTEN_AT_ONCE_BYTES
from tooltray.gateway.kept_results.tables import LEAST_ROWS, MOST_BYTES, MOST_COLUMNS, csv_of, with_csv
from tooltray.protocol.envelope import dump

WIDE = [{f"a rather long name, {n}": n for n in range(MOST_COLUMNS)} for _ in range(5)]
ROWS = [{"number": n, "title": f"Fix {n}", "open": n % 2 == 0, "milestone": None} for n in range(20)]
LONG = [{"number": n, "title": f"A longer title of an issue, {n}"} for n in range(400)]
assert len(json.dumps(LONG)) > WRITTEN_AT_ONCE_BYTES


def read_cells(csv: str) -> list[list[tuple[bool, str]]]:
    """Reads the lines behind the first one by the rules that it gives: of each cell whether it has quotes, and its characters."""
    at, lines, line = csv.index("\n") + 1, list[list[tuple[bool, str]]](), list[tuple[bool, str]]()
    while at <= len(csv):
        cell, is_quoted = "", csv.startswith('"', at)
        at += is_quoted
        while at < len(csv) and (is_quoted or csv[at] not in ",\n"):
            if is_quoted and csv[at] == '"':
                at += 1
                if not csv.startswith('"', at):
                    break
            cell, at = cell + csv[at], at + 1
        line.append((is_quoted, cell))
        if not csv.startswith(",", at):
            lines, line = [*lines, line], []
        at += 1
    return lines


def read_table(csv: str) -> list[dict[str, Any]]:
    head, *rows = read_cells(csv)
    return [{name: value_of(*cell) for (_, name), cell in zip(head, row, strict=True) if cell != (False, "")} for row in rows]


def value_of(is_quoted: bool, cell: str) -> Any:
    if is_quoted:
        return cell
    try:
        return json.loads(cell, parse_float=Decimal)
    except ValueError:
        return cell


NAMES = st.text(st.characters(codec="utf-8"), max_size=5)
AWKWARD = st.sampled_from(
    ["", "null", "NULL", "true", "5", "-0", "1e5", "+5", ".5", "007", " x", "x\n", "a,b", 'a"b', "\r", "NaN", "-inf", "1_0"]
)
VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | AWKWARD | NAMES


@given(st.lists(st.dictionaries(NAMES, VALUES, min_size=1, max_size=5), min_size=LEAST_ROWS, max_size=12))
def test_csv_gives_back_the_very_values(rows: list[dict[str, Any]]) -> None:
    written = json.dumps(rows, indent=60)  # so long that CSV is smaller
    csv = csv_of(written.encode())
    assert csv is not None
    assert [*map(str, read_table(csv))] == [*map(str, sorted_as(rows, json.loads(written, parse_float=Decimal)))]


def sorted_as(rows: list[dict[str, Any]], read: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with their members in the order of the columns."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row[name] for name in columns if name in row} for row in read]


def test_the_first_line_has_the_number_of_rows_and_the_rules_and_the_second_the_names() -> None:
    csv = csv_of(dump([{"a": "x", "long name": n, "b,c": "5"} for n in range(30)]))
    assert csv is not None
    first, names, *rows = csv.split("\n")
    assert first.startswith("[CSV, rows: 30. Quoted: text.")
    assert names == 'a,long name,"b,c"'
    assert rows == [f'x,{n},"5"' for n in range(30)]


def test_numbers_stay_as_the_server_wrote_them() -> None:
    numbers = ["1.50", "1e3", "-0", "12345678901234567890123", "0.1000000000000000055511151231257827"]
    written = "[" + ",".join(f'{{"amount in euro": {number}, "and the currency": "EUR"}}' for number in numbers) + "]"
    csv = csv_of(written.replace(" ", " " * 5).encode())
    assert csv is not None
    assert [line.split(",")[0] for line in csv.split("\n")[2:]] == numbers


def test_the_only_member_of_an_object_may_be_the_table() -> None:
    csv = csv_of(dump({'iss"ues': ROWS}))
    assert csv is not None
    assert csv.startswith('[CSV of "iss\\"ues", rows: 20. ')
    assert read_table(csv) == ROWS


@pytest.mark.parametrize(
    "value",
    [
        WIDE[:4],
        [*ROWS, {"labels": ["a"]}],
        [*ROWS, {"user": {"name": "ann"}}],
        [*ROWS, {}],
        [*ROWS, 5],
        [*map(str, range(100))],
        {"items": ROWS, "total": 20},
        {"items": {"a": ROWS}},
        {},
        [],
        "text",
        [{**row, "one more": 1} for row in WIDE],
        [{f"n{n % 10}": n} for n in range(50)],
        [{"n": n} for n in range(20)],
        [{"n": "x" * (MOST_BYTES // 5), "m": None} for _ in range(5)],
    ],
)
def test_other_values_and_tables_that_save_little_stay(value: Any) -> None:
    assert csv_of(dump(value)) is None


def test_the_smallest_table_and_the_widest_one_are_written() -> None:
    csv = csv_of(dump(WIDE))
    assert csv is not None
    assert read_table(csv) == WIDE


@pytest.mark.parametrize("written", [b"[" + b"[" * 100_000, b"[{", b'[{"a": "\\ud800"}' + b',{"a": "long enough"}' * 20 + b"]"])
def test_what_is_not_json_or_has_no_utf8_stays(written: bytes) -> None:
    assert csv_of(written) is None


# whole results


def csv_in(result: dict[str, Any]) -> dict[str, Any] | None:
    written = with_csv(dump(result))
    return None if written is None else json.loads(bytes(written))


IMAGE = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
CSV = csv_of(dump(ROWS))


def test_a_block_of_text_keeps_its_other_members_and_other_blocks_stay() -> None:
    noted = {"type": "text", "text": json.dumps(ROWS, indent=2), "annotations": {"priority": 1}}
    result = {"content": [IMAGE, noted, {"type": "text", "text": "20 issues"}], "_meta": {"a": 1}, "isError": False}
    assert csv_in(result) == {**result, "content": [IMAGE, {**noted, "text": CSV}, result["content"][2]]}  # type: ignore[index]


@pytest.mark.parametrize(
    "written",
    [{**text(json.dumps(ROWS)), "structuredContent": ROWS}, {"content": [], "structuredContent": ROWS}, {"structuredContent": ROWS}],
)
def test_structured_content_that_repeats_the_text_or_has_none_goes(written: dict[str, Any]) -> None:
    assert csv_in(written) == {"content": [{"type": "text", "text": CSV}]}


def test_structured_content_that_differs_from_the_text_stays() -> None:
    other = {"structuredContent": {"rows": ROWS}}
    assert csv_in({**text(json.dumps(ROWS)), **other}) == {"content": [{"type": "text", "text": CSV}], **other}
    assert csv_in({**text("20 issues"), **other}) is None


@pytest.mark.parametrize(
    "result",
    [
        {**text(json.dumps(ROWS)), "isError": True},
        text("20 issues"),
        {"content": [IMAGE]},
        {"content": []},
        {"content": [{"type": "resource", "resource": {"uri": "file:///t", "mimeType": "application/json", "text": json.dumps(ROWS)}}]},
        {"content": 5},
        {"content": [], "structuredContent": {"n": 1}},
        text(json.dumps([{"a": "x" * MOST_BYTES, "b": None}] * 5)),
    ],
)
def test_errors_files_and_results_without_tables_stay(result: dict[str, Any]) -> None:
    assert csv_in(result) is None


def test_a_content_of_very_many_blocks_stays() -> None:
    blocks = b",".join([b'{"type":"text","text":"a"}'] * 10_001)
    assert with_csv(Raw(b'{"content":[%b]}' % blocks)) is None


# the settings


TABLE = text(json.dumps(ROWS))
ON, OFF = {"csvTables": True}, {"csvTables": False}


@pytest.mark.parametrize(
    ("server", "tool_has", "client", "is_csv"),
    [
        ({}, {}, {}, False),
        (ON, {}, {}, True),
        ({}, ON, {}, True),
        ({}, {}, ON, True),
        (OFF, ON, {}, True),
        (ON, OFF, {}, False),
        (OFF, {}, ON, False),
        (ON, {}, OFF, False),
        ({}, ON, OFF, False),
        ({}, OFF, ON, False),
    ],
)
async def test_it_is_never_chosen_by_default_and_never_against_a_choice(
    tmp_path: Path, server: dict[str, Any], tool_has: dict[str, Any], client: dict[str, Any], is_csv: bool
) -> None:
    async with started_parts(tmp_path, **served(TABLE, server, tool_has, client)) as parts:
        session = parts.client()
        session.state.client = "c"
        reply = (await parts.call("t", session))["result"]
        assert (reply != TABLE) is is_csv
        assert reply["content"][0]["text"].startswith("[CSV, rows: 20") is is_csv


def served(
    result: dict[str, Any], server: dict[str, Any], tool_has: dict[str, Any], client: dict[str, Any], **members: Any
) -> dict[str, Any]:
    program = ScriptedServer(tool("t", **members))
    program.calls["t"] = lambda copy, params: result
    entry = {"command": "program", "autoApprove": ["all"], "toolOverrides": {"t": tool_has}, **server}
    settings = {"publish": {"clients": {"c": client} if client else {}}}
    return {"servers": {"s": entry}, "programs": {"program": program}, "settings": settings}


async def test_a_choice_counts_from_the_next_call(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **served(TABLE, {}, {}, {})) as parts:
        session, seen = parts.client(), list[bool]()
        for choice in (None, True, False):
            await parts.presenter.set_csv_tables(choice, "s")
            seen.append((await parts.call("t", session))["result"] != TABLE)
    assert seen == [False, True, False]


async def test_a_tool_with_an_output_schema_keeps_its_json(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **served(TABLE, ON, ON, ON, outputSchema={"type": "object"})) as parts:
        assert (await parts.call("t", parts.client()))["result"] == TABLE


async def test_a_view_keeps_the_structured_content_that_it_reads(tmp_path: Path) -> None:
    shown = {**TABLE, "structuredContent": ROWS}
    async with started_parts(tmp_path, **served(shown, ON, {}, {}, _meta={"ui": {"resourceUri": "ui://v"}})) as parts:
        session = parts.client()
        session.state.shows_views = True
        assert (await parts.call("t", session))["result"]["structuredContent"] in (ROWS, {"result": ROWS})


async def test_a_large_table_is_written_in_a_thread_and_then_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with started_parts(tmp_path, **served(text(json.dumps(LONG)), {**ON, "resultLimit": 1000}, {}, {})) as parts:
        beginning, notice = (block["text"] for block in (await parts.call("t", parts.client()))["result"]["content"])
    assert beginning.startswith("[CSV, rows: 400. ")
    assert beginning.split("\n")[2] == '0,"A longer title of an issue, 0"'
    assert notice.startswith("[Cut by Tooltray: ")


async def test_the_choice_is_made_for_a_server_a_tool_or_a_client_and_is_no_widening(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": {"command": "program"}}, programs={"program": ScriptedServer()}) as parts:
        choose, written = parts.presenter.set_csv_tables, lambda: parts.settings_on_disk["mcpServers"]["s"]
        await choose(True, "s")
        await choose(False, "s", "t")
        await choose(True, client="Cursor")
        assert (written()["csvTables"], written()["toolOverrides"]) == (True, {"t": {"csvTables": False}})
        assert [each.csv_tables for each in await parts.presenter.get_client_modes() if each.client == "Cursor"] == [True]
        await parts.presenter.set_tool_override("s", "t", name="x")
        assert written()["toolOverrides"] == {"t": {"name": "x", "csvTables": False}}
        await parts.presenter.set_tool_override("s", "t")
        for of in ({"server": "s"}, {"server": "s", "tool": "t"}, {"client": "Cursor"}):
            await choose(None, **of)
        assert written() == {"command": "program"}
        with pytest.raises(TooltrayError, match="Name whose results you mean"):
            await choose(True)


def test_the_module_writes_no_python_string_of_a_huge_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(text: bytes) -> str:
        raise AssertionError("a huge text was read")

    monkeypatch.setattr(tables, "csv_of", never)
    assert csv_in(text("[" + "x" * 2 * MOST_BYTES)) is None
