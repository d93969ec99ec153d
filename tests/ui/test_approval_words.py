"""What is allowed, for whom and until when is said in words."""

from datetime import datetime, timedelta

import pytest
from PySide6.QtWidgets import QApplication

from tooltray.snapshots.approvals import GrantSnapshot
from tooltray.ui.approvals.approval_body import details, ends, granted, granted_to, granted_until, minutes
from tooltray.ui.figures import moment
from tooltray.ui.shell.hub_words import waiting_calls

NOW = datetime(2026, 11, 22, 14, 30)


def at(**ago: float) -> float:
    return (NOW - timedelta(**ago)).timestamp()


def grant(**fields: object) -> GrantSnapshot:
    return GrantSnapshot(**{"id": "1", "kind": "tool", "server": "files", "tool": "write_file", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(("seconds", "text"), [(86.4, "1:26"), (0.2, "0:00"), (-5.0, "0:00"), (119.6, "2:00"), (9.0, "0:09")])
def test_the_time_left_is_in_minutes_and_seconds(seconds: float, text: str) -> None:
    assert minutes(seconds) == text


@pytest.mark.parametrize(
    ("unix", "text"),
    [
        (0.0, "–"),
        (at(hours=2), "12:30"),
        (at(hours=-2), "16:30"),
        (at(days=2), "Fri 14:30"),
        (at(days=-1), "Mon 14:30"),
        (at(days=30), "10/23/26"),
    ],
)
def test_a_moment_is_said_as_shortly_as_it_is_clear(app: QApplication, unix: float, text: str) -> None:
    assert moment(unix, NOW) == text


@pytest.mark.parametrize(
    ("fields", "what", "whom", "until"),
    [
        ({}, "write_file of files", "All clients", "You take it back"),
        ({"client": "Cursor", "expires_at": at(hours=-1)}, "write_file of files", "Cursor", "15:30"),
        ({"kind": "reads", "tool": ""}, "Everything of files that reads", "All clients", "You take it back"),
        ({"session": "s", "client": "Cursor"}, "write_file of files", "Cursor", "The session ends"),
        ({"session": "s"}, "write_file of files", "One session", "The session ends"),
    ],
)
def test_a_grant_says_what_for_whom_and_until_when(app: QApplication, fields: dict[str, object], what: str, whom: str, until: str) -> None:
    shown = grant(**fields)
    assert (granted(shown), granted_to(shown), granted_until(shown, NOW)) == (what, whom, until)
    assert ends(shown, NOW) == (until, "")
    assert details(shown, NOW) == f"Until: {until}"


def test_a_held_grant_says_which_tools_have_changed(app: QApplication) -> None:
    held = grant(is_held=True, held_tools=("a", "b"))
    assert ends(held, NOW) == ("Held", "warning")
    assert details(held, NOW).endswith("so it asks again: a, b\nUntil: You take it back")


def test_waiting_calls_are_counted(app: QApplication) -> None:
    assert waiting_calls(0) == ()
    assert waiting_calls(1) == ("1 call waits for your answer",)
    assert waiting_calls(3) == ("3 calls wait for your answer",)
