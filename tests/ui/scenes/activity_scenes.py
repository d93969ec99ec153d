"""Scenes of what happened: a day of calls, one of them in full, calls that wait, figures, and rare states."""

import json
import random
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec.structs import replace
from tests.fakes.desk import Desk, until
from tests.fakes.journal_in_memory import JournalInMemory, entry
from tests.ui.scenes.opened_desk import SERVERS, TOOLS
from tests.ui.scenes.shot import Shot

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityEntry, ActivityFilter, ActivityTimes, CallNow, JournalStatus
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.ui.activity.activity_list import ALL
from tooltray.ui.activity.activity_page import FIGURES
from tooltray.ui.kit.destinations import OpenEntry
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import NoticeLine

DAY_S = 86400
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SHOP = "/home/ana/projects/shop"
USED = (
    ("claude-code", "filesystem", "read_text_file", "src/billing/invoice.py", 0.004),
    ("claude-code", "filesystem", "edit_file", "src/billing/invoice.py", 0.012),
    ("claude-code", "filesystem", "list_directory", "src/billing", 0.003),
    ("cursor-vscode", "github", "search_code", "api.github.com", 0.418),
    ("cursor-vscode", "postgres", "execute_sql", "SELECT count(*)", 0.09),
    ("codex-mcp-client", "memory", "search_nodes", "", 0.005),
)
LONG = "a_tool_whose_author_liked_long_names_" * 8 + "🧠🧠"
ODD: dict[str, Any] = {
    "client": LONG,
    "server": LONG,
    "tool": LONG,
    "published": LONG,
    "project": f"/home/ana/{LONG}",
    "session": "s1",
    "duration_s": 5400.0,
}
ODD |= {
    "duration_s": 5400.0,
    "touched": "<b>not bold</b> \u202eevil \x1b[31mred",
    "outcome": "error",
    "reason": f"<h1>{LONG}</h1>\nרק שורה",
}


@cache
def day(count: int = 700) -> tuple[ActivityEntry, ...]:
    """A day of calls up to now, the same each time."""
    chance, now = random.Random(5), time.time() - 400  # `latest` follows
    found: list[ActivityEntry] = []
    times = sorted(now - DAY_S * chance.random() ** 1.4 for _ in range(count))
    for id, at in enumerate(times, 1):
        client, server, tool, touched, took = USED[min(5, int(chance.expovariate(0.7)))]
        fields: dict[str, Any] = {"tokens": chance.randint(20, 2400), "duration_s": took * chance.uniform(0.6, 2.2), "project": SHOP}
        if server == "postgres" and chance.random() < 0.2:
            fields |= {"outcome": "error", "duration_s": 30.0, "reason": Phrase("No answer within {seconds} s", seconds=30)}
        elif tool == "edit_file" and chance.random() < 0.15:
            fields |= {"outcome": "refused", "reason": Phrase("You did not allow it")}
        known = {"client": client, "server": server, "tool": tool, "published": f"{server}_{tool}", "touched": touched}
        found.append(entry(id, **known | fields | {"at": at, "argument_bytes": 220, "result_bytes": 8400}))
    return tuple(found)


def latest(*more: dict[str, Any]) -> tuple[ActivityEntry, ...]:
    """What happened in the last minutes: a server that failed and started again, a question, a run of repeats; and `more`."""
    now, first = time.time(), len(day()) + 1
    lines: list[dict[str, Any]] = [
        {"kind": "failure", "server": "postgres", "client": "", "outcome": "error", "reason": "It ended with exit code 1"},
        {"kind": "start", "server": "postgres", "client": "", "duration_s": 1.8, "reason": "hub"},
        {"kind": "approval", "server": "filesystem", "tool": "write_file", "outcome": "once", "duration_s": 6.4},
        {"tool": "write_file", "server": "filesystem", "published": "filesystem_write_file", "touched": "docs/plan.md"},
        *({"server": "filesystem", "tool": "read_text_file", "touched": f"src/part_{number}.py"} for number in range(41)),
        {"client": "cursor-vscode", "server": "github", "tool": "search_code", "duration_s": 0.418, "touched": "api.github.com"},
        {
            "client": "cursor-vscode",
            "server": "postgres",
            "tool": "execute_sql",
            "outcome": "error",
            "reason": "It refused the connection.",
        },
        {"kind": "question", "server": "github", "client": "cursor-vscode", "outcome": "accept", "duration_s": 12.0},
        {"server": "filesystem", "tool": "edit_file", "published": "filesystem_edit_file", "touched": "src/billing/invoice.py"},
    ]
    lines += more
    count = len(lines)
    return tuple(entry(first + place, **{"at": now - 4 * (count - place), "project": SHOP, **line}) for place, line in enumerate(lines))


async def opened(theme: Theme, journal: Sequence[ActivityEntry], size: tuple[int, int] | None = None) -> Shot:
    engine = JournalInMemory(SERVERS, TOOLS, session_count=3, journal=journal)
    result = Desk(engine, theme)
    await result.open()
    if size:
        result.window.resize(*size)
    result.window.open_page("activity")
    await until(lambda: result.activity.calls.list.table.activity.is_known)
    await until(lambda: result.activity.calls.glance.chart.bars is not None and result.activity.calls.list._count_cost_ms)
    return Shot(result, size=size)


async def activity(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await opened(theme, day() + latest(), size)
    now = time.time()
    _engine(shot).calls_now = [
        CallNow("cursor-vscode", "s2", SHOP, "github", "search_code", now - 3.2),
        CallNow("claude-code", "s1", SHOP, "serena", "find_symbol", now - 1.1, "start"),
    ]
    shot.desk.activity.calls._refresh_calls_now()
    return shot


async def activity_small(theme: Theme) -> Shot:
    return await activity(theme, (900, 600))


CHANGE = (
    " def total(lines):",
    "-    total = sum(lines)",
    "+    total = sum(line.net for line in lines if not line.is_cancelled)",
    "     return round(total, 2)",
)


async def activity_call(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await activity(theme, size)
    called = _engine(shot).journal[-1]
    times = ActivityTimes(0.0002, 0.0001, 4.2, None, 0.0121, 0.0003)
    arguments = {"path": "src/billing/invoice.py", "edits": [{"oldText": "total = sum(lines)", "newText": "total = sum(line.net)"}]}
    result = {"content": [{"type": "text", "text": "Applied 1 edit to src/billing/invoice.py"}], "isError": False}
    full = replace(called, duration_s=4.2129, argument_bytes=220, result_bytes=640, tokens=16, has_contents=True)
    _engine(shot).details[called.id] = ActivityDetails(
        full, times, json.dumps(arguments), json.dumps(result), allowed_by="person", trace_id=TRACE, diff=CHANGE
    )
    return await _entry(shot, called.id)


async def activity_call_small(theme: Theme) -> Shot:
    return await activity_call(theme, (900, 600))


async def activity_failed(theme: Theme) -> Shot:
    shot = await activity(theme)
    failed = next(each for each in reversed(_engine(shot).journal) if each.outcome == "error" and each.kind == "call")
    _engine(shot).details[failed.id] = ActivityDetails(failed, ActivityTimes(0.0001, None, None, 1.4, 0.6, 0.0002), allowed_by="rules")
    return await _entry(shot, failed.id)


async def activity_odd(theme: Theme) -> Shot:
    shot = await opened(theme, latest(ODD))
    return await _entry(shot, _engine(shot).journal[-1].id)


async def activity_open_group(theme: Theme) -> Shot:
    shot = await activity(theme)
    table = shot.desk.activity.calls.list.table
    place = next(place for place in range(20) if (row := table.activity.row(place).row) is not None and row.count == 41)
    table.selectRow(place)
    table.activity.toggle(place)
    await until(lambda: table.activity.row(place).is_open)
    return shot


async def activity_all(theme: Theme) -> Shot:
    events = [
        *({"kind": kind, "server": "filesystem", "client": "", "tool": "", "reason": "settings"} for kind in ("stop", "start") * 3),
        {"tool": "write_file", "server": "filesystem", "touched": "docs/plan.md"},
        *(
            {"kind": "start", "server": name, "client": "", "tool": "", "reason": "hub"}
            for name in ("github", "memory", "serena", "postgres")
        ),
        {"kind": "failure", "server": "playwright", "client": "", "tool": "", "outcome": "error", "reason": "It ended with exit code 1"},
    ]
    shot = await opened(theme, day() + latest(*events))
    listed = shot.desk.activity.calls.list
    listed.show_tab(ALL)
    model = listed.table.activity
    await until(lambda: any((row := model.row(place).row) and row.servers for place in range(model.rowCount())))
    return shot


async def activity_filtered(theme: Theme) -> Shot:
    shot = await activity(theme)
    calls = shot.desk.activity.calls
    points = calls.glance._points
    wanted = ActivityFilter(clients=("claude-code",), servers=("filesystem",), since=points[-14].at, until=points[-3].at)
    calls.set_filter(wanted)
    assert calls.list.filter == wanted
    return shot


async def activity_waiting(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await activity(theme, size)
    arguments = json.dumps({"path": "/home/ana/projects/shop/docs/plan.md", "content": "# Plan\n…"}, indent=2)
    choices = ("once", "session", "always")
    for number, warnings in enumerate(((), ("its description has hidden characters",))):
        tool = ("write_file", "move_file")[number]
        ends_at = time.time() + 90
        request = ApprovalSnapshot(
            str(number), "filesystem", tool, "claude-code", "write", arguments, "it writes", ends_at, choices, warnings=warnings
        )
        shot.desk.engine.ask_approval(request)
    _engine(shot).settings = {"activity": {"contents": True, "contentsUntil": time.time() + 1800}}
    shot.desk.activity.calls.look_again()
    await until(lambda: shot.desk.activity.calls.waiting.isVisible() and shot.desk.activity.calls.recording.isVisible())
    return shot


async def activity_waiting_small(theme: Theme) -> Shot:
    return await activity_waiting(theme, (900, 600))


async def activity_empty(theme: Theme) -> Shot:
    return await opened(theme, ())


async def activity_damaged(theme: Theme) -> Shot:
    shot = await opened(theme, latest())
    said = "The journal was damaged: it was set aside as activity.db.damaged-2026-11-25, and a new one begun"
    _engine(shot).journal_status = JournalStatus("/home/ana/.tooltray/activity.db", 4096, 50, problem=said)
    shot.desk.activity.calls.look_again()
    await until(lambda: shot.desk.activity.findChild(NoticeLine))
    return shot


async def activity_unreadable(theme: Theme) -> Shot:
    engine = JournalInMemory(SERVERS, TOOLS, session_count=3)
    problem = TooltrayError("The journal cannot be read", "disk I/O error", "Look whether the disk is well")
    for verb in ("get_activity", "get_activity_series", "get_calls_now", "get_journal_status", "get_activity_figures"):
        engine.failures[verb] = problem
    result = Desk(engine, theme)
    await result.open()
    result.window.open_page("activity")
    await until(lambda: result.activity.findChild(NoticeLine))
    return Shot(result)


async def activity_figures(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await activity(theme, size)
    page = shot.desk.activity
    page.show_tab(FIGURES)
    await until(lambda: page.tab(FIGURES).table.rows)
    page.tab(FIGURES).table.selectRow(1)
    return shot


async def activity_figures_small(theme: Theme) -> Shot:
    return await activity_figures(theme, (900, 600))


async def _entry(shot: Shot, id: int) -> Shot:
    shot.desk.window.go(OpenEntry(id))
    await until(lambda: shot.desk.activity.calls._split.details is not None)
    return shot


def _engine(shot: Shot) -> JournalInMemory:
    assert shot.desk is not None
    assert isinstance(shot.desk.engine, JournalInMemory)
    return shot.desk.engine


SCENES = (
    activity,
    activity_small,
    activity_call,
    activity_call_small,
    activity_failed,
    activity_odd,
    activity_open_group,
    activity_all,
    activity_filtered,
    activity_waiting,
    activity_waiting_small,
    activity_empty,
    activity_damaged,
    activity_unreadable,
    activity_figures,
    activity_figures_small,
)
