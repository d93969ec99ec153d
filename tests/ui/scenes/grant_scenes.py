"""Scenes of the page of what was allowed: grants, changed tools, allowing tools."""

import time
from collections.abc import Sequence

from tests.fakes.desk import until
from tests.ui.scenes.approval_scenes import DEFINITION, ODD, PREVIEW, RULES, RUN
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.foundation.snapshots.approvals import GrantSnapshot, ToolChange
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.permissions_page import GRANTED as GRANTED_TAB
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


async def grants(
    theme: Theme,
    granted: Sequence[GrantSnapshot] = GRANTED,
    changes: Sequence[ToolChange] = CHANGES_SEEN,
    size: tuple[int, int] | None = None,
) -> Shot:
    result = await desk(theme)
    result.engine.grants, result.engine.tool_changes = list(granted), list(changes)
    result.engine.client_modes = [ClientModeSnapshot("claude-code", "Claude Code", "", "everything", "", is_seen=True)]
    result.window.open_page("permissions")
    page = result.permissions
    page.show_tab(GRANTED_TAB)
    await until(lambda: list(page.granted.grants) == list(granted) and list(page.granted.changes) == list(changes))
    return Shot(result, size=size)


async def grants_small(theme: Theme) -> Shot:
    return await grants(theme, size=(900, 600))


async def grants_empty(theme: Theme) -> Shot:
    return await grants(theme, (), ())


async def grants_100(theme: Theme) -> Shot:
    return await grants(theme, [grant(number, tool=f"tool_{number}") for number in range(100)], ())


async def rule_sheet(theme: Theme) -> Shot:
    shot = await grants(theme)
    assert shot.desk is not None
    shot.desk.engine.rule_preview = PREVIEW
    window = shot.desk.window
    shot.desk.permissions.granted.open_grant(GRANTED[5])
    await until(lambda: window.sheet is not None and "Reading" not in window.sheet.panel._past.text())
    return shot


async def tool_change(theme: Theme) -> Shot:
    shot = await grants(theme)
    assert shot.desk is not None
    shot.desk.permissions.granted.open_change(CHANGES_SEEN[0])
    return shot


SCENES = (
    grants,
    grants_small,
    grants_empty,
    grants_100,
    rule_sheet,
    tool_change,
)
