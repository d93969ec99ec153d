"""The Permissions page says what was decided, by which way, and whether that record is whole."""

import pytest
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import words
from tests.ui.test_permissions_page import opened

from tooltray.foundation.snapshots.approvals import AuditCheck, AuditEntry
from tooltray.ui.approval.decisions_tab import about_words, answer_words, details, way_words
from tooltray.ui.approval.permissions_page import DECISIONS
from tooltray.ui.theme import Theme

YES = AuditEntry(2, 1000.0, "Allowing tool calls", "yes", "window", origin="bash (1)", about={"server": "files", "tool": "write"})
ENDED = AuditEntry(1, 900.0, "Something has ended", "", "")


async def test_decisions_are_listed_when_a_person_looks_at_the_page(theme: Theme) -> None:
    engine = FakePresenter([server("files")])
    engine.decisions = [YES, ENDED]
    async with Desk(engine, theme) as desk:
        page = await opened(desk)
        await until(lambda: len(page.decisions.table.rows) == 2)


async def test_a_record_that_was_changed_from_outside_is_told(theme: Theme) -> None:
    said = "This record was changed by something else than Tooltray"
    engine = FakePresenter([server("files")])
    engine.audit_check = AuditCheck(False, 1, 2, ("its last line is not the one that was written last",))
    async with Desk(engine, theme) as desk:
        page = await opened(desk, DECISIONS)
        assert said in words(page)
        engine.audit_check = AuditCheck(True, 1, 2)
        page.look_again()
        await until(lambda: said not in words(page))


@pytest.mark.parametrize(
    ("way", "who", "said"),
    [("window", "", "Window"), ("program", "panel", "Program panel"), ("client", "", "Form of An AI client"), ("", "", "–")],
)
def test_a_decision_says_by_which_way_it_came(way: str, who: str, said: str) -> None:
    assert way_words(AuditEntry(1, 1.0, "x", "yes", way, who)) == said


def test_a_decision_says_what_it_is_about_and_where_it_came_from() -> None:
    assert (answer_words(YES), answer_words(ENDED), about_words(YES)) == ("Yes", "–", "files, write")
    assert details(YES).splitlines() == ["Allowing tool calls", "Server: files", "Tool: write", "From: bash (1)"]
