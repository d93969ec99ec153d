"""What applies to a tool's calls now: its rules, and what was allowed for longer."""

from datetime import datetime

import pytest
from msgspec.structs import replace
from tests.fakes.desk import Desk
from tests.fakes.fake_presenter import FakePresenter

from tooltray.foundation.snapshots.approvals import GrantSnapshot, ServerPermissions, ToolPermission
from tooltray.ui.approval.permission_words import ToolRow, applies_now, read_tools, why
from tooltray.ui.figures import moment
from tooltray.ui.theme import Theme

ASKING = ToolPermission("t", "write", "default", False, "It may change things", ("1",))
FOREVER = GrantSnapshot("1", "tool", "s", "t")
UNTIL_LOCK = replace(FOREVER, id="2", until="lock")
SOON = datetime.now().replace(hour=12, minute=0, second=0, microsecond=0).timestamp() + 86_400
FOR_A_DAY = replace(FOREVER, id="3", expires_at=SOON)


@pytest.mark.parametrize(
    ("grants", "words"),
    [
        ((), "Asks first"),
        ((UNTIL_LOCK,), "Allowed until the screen locks"),
        ((FOREVER,), "Allowed"),
        ((UNTIL_LOCK, FOREVER, FOR_A_DAY), "Allowed"),  # the longest
        ((UNTIL_LOCK, FOR_A_DAY), f"Allowed until {moment(SOON, datetime.now())}"),
        ((replace(FOREVER, client="cursor"),), "Allowed for cursor"),
        ((replace(FOREVER, session="1"),), "Allowed for One session"),
    ],
)
def test_what_applies_to_a_tool_now(grants: tuple[GrantSnapshot, ...], words: str) -> None:
    assert applies_now(ToolRow("s", ASKING, True, grants))[0] == words


def test_what_applies_to_a_tool_that_is_off_free_or_changed() -> None:
    off, free, held = replace(ASKING, is_enabled=False), replace(ASKING, is_free=True), replace(ASKING, is_held=True)
    assert applies_now(ToolRow("s", off, True, (FOREVER,))) == ("Off", "")
    assert applies_now(ToolRow("s", free, True, (UNTIL_LOCK,))) == ("Runs without asking", "")
    assert applies_now(ToolRow("s", held, True)) == ("Blocked until reviewed", "warning")
    assert applies_now(ToolRow("s", held, True, (FOREVER,))) == ("Allowed", "accent")  # as it is now
    assert why(ToolRow("s", free, True, (FOREVER,))) == "It may change things"
    assert why(ToolRow("s", ASKING, True, (FOREVER,))) == "You allowed it; otherwise it asks first"


async def test_all_tools_are_read_with_what_applies_to_each(theme: Theme) -> None:
    engine = FakePresenter()
    engine.permissions = [ServerPermissions("s", (), tools=(ASKING,)), ServerPermissions("r", (), tools=(replace(ASKING, grants=()),))]
    engine.grants = [UNTIL_LOCK, FOREVER]
    async with Desk(engine, theme) as desk:
        found = await read_tools(desk.window.context.hub)
        assert {key: applies_now(row)[0] for key, row in found.items()} == {("s", "t"): "Allowed", ("r", "t"): "Asks first"}
        assert [*await read_tools(desk.window.context.hub, "r")] == [("r", "t")]
