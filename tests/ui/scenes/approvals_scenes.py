"""Scenes of Activity > Approvals: what waits, what was allowed for longer, the history, and their sheets."""

import time
from collections.abc import Sequence

from msgspec.structs import replace
from tests.fakes.desk import Desk, until
from tests.fakes.journal_in_memory import JournalInMemory
from tests.ui.scenes.approval_scenes import DEFINITION, EDIT, ODD, PREVIEW, RULES, RUN
from tests.ui.scenes.opened_desk import SERVERS, TOOLS
from tests.ui.scenes.shot import Shot

from tooltray.foundation.snapshots.approvals import AuditEntry, GrantSnapshot, ToolChange, TrustRequest
from tooltray.ui.activity.approvals_tab import ApprovalsTab
from tooltray.ui.kit.destinations import Activity
from tooltray.ui.theme import Theme


def grant(number: int, **fields: object) -> GrantSnapshot:
    known = {"id": str(number), "kind": "tool", "server": "filesystem", "tool": "write_file", "created_at": time.time() - number * 40_000}
    return GrantSnapshot(**{**known, **fields})  # type: ignore[arg-type]


GRANTED = [
    grant(0, session="s", client="Claude Code"),
    grant(1, client="Cursor", expires_at=time.time() + 7200),
    grant(4, tool="run_query", server="postgres", until="lock", client="Cursor"),
    grant(5, tool="create_issue", server="github", expires_at=time.time() + 41),
    grant(2, kind="reads", server="github", tool="", is_held=True, held_tools=("get_issue", "list_issues")),
    grant(3, kind="rule", client="Claude Code", tool="run_command", rule=RULES[1], words=RUN.rules[1].words),
    grant(30, tool="delete_everything_that_matches_this_pattern", server="my-very-long-server-name-that-somebody-pasted"),
]
CHANGES_SEEN = [ToolChange("github", "get_issue", DEFINITION, (ODD,)), ToolChange("github", "list_issues", DEFINITION)]
REQUESTS = [
    TrustRequest("/home/me/projects/proj2", "/home/me/projects/proj2/.mcp.json", name, "d", False, "stdio", f"npx {name}")
    for name in ("tests", "deploy")
]
CALLS = "Allowing tool calls"
DECIDED = [
    AuditEntry(number, time.time() - (9 - number) ** 4 * 60, what, answer, way, who, origin, "", about)
    for number, (what, answer, way, who, origin, about) in enumerate(
        (
            ("Allowing a folder", "yes", "passphrase", "", "", {"folder": "/home/me/projects"}),
            ("Changing an AI client's file", "yes", "window", "", "", {"edits": "connect:claude-code:/tmp/home/.claude.json"}),
            (
                "Allowing a project's servers",
                "yes",
                "window",
                "",
                "",
                {"project": "/home/me/projects/shop", "entries": "db, browser", "digests": "db 1f0c2ab9"},
            ),
            (CALLS, "yes", "window", "", "", {"server": "github", "kind": "reads", "definitions": "ec464ba610a9560e, a49c62acad69a3fb"}),
            (CALLS, "yes", "window", "", "", {"server": "filesystem", "rule": RUN.rules[1].words, "client": "Claude Code"}),
            ("A lasting approval", "narrowed", "window", "", "", {"grant": "96ac409b", "server": "git", "tool": "push"}),
            (
                "A call of a tool",
                "no",
                "client",
                "Cursor",
                "",
                {"server": "filesystem", "tool": "write_file", "client": "Cursor", "project": "/home/me/shop"},
            ),
            (CALLS, "no", "terminal", "", "bash (4242), claude (3071)", {"server": "git", "tool": "push", "expires_in_s": "3600"}),
        ),
        1,
    )
][::-1]


async def opened(
    theme: Theme,
    granted: Sequence[GrantSnapshot] = GRANTED,
    changes: Sequence[ToolChange] = (),
    *,
    waits: bool = False,
    size: tuple[int, int] | None = None,
) -> tuple[Shot, ApprovalsTab]:
    engine = JournalInMemory(SERVERS, TOOLS, session_count=3)
    result = Desk(engine, theme)
    await result.open()
    engine.grants, engine.tool_changes, engine.decisions = list(granted), list(changes), list(DECIDED if granted else ())
    if waits:
        engine.approvals, engine.trust_requests = [replace(EDIT, ends_at=time.time() + 93)], list(REQUESTS)
    result.window.go(Activity("approvals"))
    page = result.activity.approvals
    page.waiting.guard_ms = 0
    await until(lambda: len(page.temporary.table.given) == len(granted) and not len(result.tasks))
    if waits:
        result.engine.ask_approval(replace(EDIT, id="second", ends_at=time.time() + 60, warnings=(ODD,)))
        await until(lambda: len(page.waiting.call_rows) == 2 and page.waiting.call_rows[1].refuse.isEnabled())
    return Shot(result, size=size), page


async def approvals_calm(theme: Theme) -> Shot:
    return (await opened(theme))[0]


async def approvals(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    return (await opened(theme, GRANTED, CHANGES_SEEN, waits=True, size=size))[0]


async def approvals_small(theme: Theme) -> Shot:
    return await approvals(theme, (900, 600))


async def approvals_empty(theme: Theme) -> Shot:
    return (await opened(theme, ()))[0]


async def approvals_100(theme: Theme) -> Shot:
    return (await opened(theme, [grant(number, tool=f"tool_{number}") for number in range(100)]))[0]


async def approvals_history_small(theme: Theme) -> Shot:
    return (await opened(theme, GRANTED[:1], size=(900, 600)))[0]


async def grant_sheet(theme: Theme) -> Shot:
    shot, page = await opened(theme)
    page.temporary.open_grant(GRANTED[4])
    return shot


async def decision_sheet(theme: Theme) -> Shot:
    shot, page = await opened(theme)
    page.history.open_entry(DECIDED[0])
    return shot


async def call_sheet(theme: Theme) -> Shot:
    shot, page = await opened(theme, waits=True)
    page.waiting.open_call(page.waiting.calls[0])
    return shot


async def rule_sheet(theme: Theme) -> Shot:
    shot, page = await opened(theme)
    assert shot.desk is not None
    shot.desk.engine.rule_preview = PREVIEW
    window = shot.desk.window
    page.temporary.open_grant(GRANTED[5])
    await until(lambda: window.sheet is not None and "Reading" not in window.sheet.panel._past.text())
    return shot


async def tool_change(theme: Theme) -> Shot:
    shot, page = await opened(theme, GRANTED, CHANGES_SEEN)
    page.waiting.open_change(CHANGES_SEEN[0])
    return shot


SCENES = (
    approvals,
    approvals_calm,
    approvals_small,
    approvals_empty,
    approvals_100,
    approvals_history_small,
    grant_sheet,
    decision_sheet,
    call_sheet,
    rule_sheet,
    tool_change,
)
