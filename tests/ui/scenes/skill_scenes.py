"""Scenes of the skills of an opened server: some of every kind, and one of them read."""

from collections.abc import Sequence

from tests.fakes.desk import Desk, until
from tests.fakes.tools_in_memory import ToolsInMemory
from tests.ui.scenes.opened_desk import SERVERS, TOOLS
from tests.ui.scenes.shot import Shot
from tests.ui.seen import control

from tooltray.foundation.snapshots.tools import SkillSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.server_pane.server_tools import ServerTools
from tooltray.ui.theme import Theme
from tooltray.ui.tools.offered_list import OfferedList

LONG = "Refund an order: look it up, see whether the period of 30 days is over, ask before anything is paid back, and write down why. " * 6
SKILL_MD = """---
name: git-workflow
description: How this team works with git
---

# Git workflow

1. Branch from `main`, one branch for one change.
2. Write the subject in **plain words**, 72 characters at most.
3. Never force a push: <script>alert("it is text")</script>
"""


def skill(name: str, description: str, path: str = "", **fields: object) -> SkillSnapshot:
    uri = f"skill://{path or name}/SKILL.md"
    known: dict[str, object] = {"file_count": 3, "size_bytes": 4_812}
    return SkillSnapshot(uri, "github", uri, name, description, **known | fields)  # type: ignore[arg-type]


SKILLS = (
    skill("git-workflow", "How this team works with git, from the first branch to the merge."),
    skill("pull-request-review", "Review a change with care.", is_held=True),
    skill("refunds", LONG, "acme/billing/refunds"),
    skill("release-notes", "Write release notes from commits.", is_enabled=False),
    skill("status-of-the-build", "What is red just now.", is_dynamic=True, file_count=0, size_bytes=0),
    skill("migrating-a-very-old-database-with-tables-" * 4, "發行說明：由提交紀錄寫成。", "migrations", is_enabled=False, is_held=True),
)


async def opened(theme: Theme, listed: Sequence[SkillSnapshot], size: tuple[int, int] | None = None) -> tuple[Desk, OfferedList]:
    engine = ToolsInMemory(SERVERS, TOOLS, session_count=3)
    engine.skills = list(listed)
    engine.prompts = {"github": [{"name": "release-notes", "description": "Release notes from commits."}]}
    engine.contents = {SKILLS[0].uri: {"text": SKILL_MD}}
    desk = Desk(engine, theme)
    await desk.open()
    await until(lambda: desk.servers.servers)
    if size:
        desk.window.resize(*size)
    view = desk.open_server("github", "tools").view("tools")
    assert isinstance(view, ServerTools)
    found = view.lists[2]
    await until(lambda: found._offers is not None)
    control(view, tr("Skills")).click()
    return desk, found


async def skills(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    desk, _ = await opened(theme, SKILLS, size)
    return Shot(desk, size=size)


async def skills_small(theme: Theme) -> Shot:
    return await skills(theme, (900, 600))


async def skill_read(theme: Theme, size: tuple[int, int] | None = (1800, 900)) -> Shot:
    desk, found = await opened(theme, SKILLS, size)
    await until(lambda: found.table.rows)
    found.table.row_chosen.emit(found.table.rows[0])
    await desk.asked("get_skill", SKILLS[0].uri)
    return Shot(desk, size=size)


async def skill_read_sheet(theme: Theme) -> Shot:
    """Where there is no room beside the list."""
    return await skill_read(theme, None)


SCENES = (skills, skills_small, skill_read, skill_read_sheet)
