"""What is allowed, for whom and until when is said in words."""

from datetime import datetime, timedelta

import pytest
from PySide6.QtWidgets import QApplication

from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.ui.approval.approval_body import details, ends, granted, granted_to, granted_until, minutes, time_left
from tooltray.ui.figures import moment
from tooltray.ui.shell.hub_status import waiting_words

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
        ({}, "write_file of files", "All clients", "You revoke it"),
        ({"kind": "reads", "tool": ""}, "Everything of files that reads", "All clients", "You revoke it"),
        ({"session": "s", "client": "Cursor"}, "write_file of files", "Cursor", "The session ends"),
        ({"session": "s"}, "write_file of files", "One session", "The session ends"),
    ],
)
def test_a_grant_says_what_for_whom_and_until_when(app: QApplication, fields: dict[str, object], what: str, whom: str, until: str) -> None:
    shown = grant(**fields)
    assert (granted(shown), granted_to(shown), granted_until(shown, NOW)) == (what, whom, until)
    assert ends(shown, NOW) == (until, "")
    assert details(shown, NOW) == f"Until: {until}"


@pytest.mark.parametrize(
    ("fields", "chip", "until"),
    [
        ({"expires_at": at(hours=-1)}, "1 h 0 min left", "15:30"),
        ({"expires_at": at(days=-30)}, "12/22/26", "12/22/26"),
        ({"until": "lock"}, "The screen locks", "The screen locks"),
        ({"until": "lock", "expires_at": at(minutes=-5)}, "5 min left", "The screen locks or 14:35"),
    ],
)
def test_a_grant_that_ends_says_how_long_it_lasts_on(app: QApplication, fields: dict[str, object], chip: str, until: str) -> None:
    shown = grant(**fields)
    assert (ends(shown, NOW), details(shown, NOW)) == ((chip, ""), f"Until: {until}")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1.0, "1 s left"),
        (60.0, "1 min left"),
        (3599.0, "59 min left"),
        (5400.0, "1 h 30 min left"),
        (2e5, "2 d left"),
    ],
)
def test_a_time_left_is_as_short_as_it_is_clear(app: QApplication, seconds: float, text: str) -> None:
    assert time_left(seconds) == text


def test_a_held_grant_says_which_tools_have_changed(app: QApplication) -> None:
    held = grant(is_held=True, held_tools=("a", "b"))
    assert ends(held, NOW) == ("Blocked until reviewed", "warning")
    assert details(held, NOW).endswith("so it asks again: a, b\nUntil: You revoke it")


def test_waiting_calls_are_counted(app: QApplication) -> None:
    assert waiting_words(0, 0, 0) == []
    assert waiting_words(1, 0, 1) == ["1 call waits for your answer", "1 question waits for your answer"]
    assert waiting_words(3, 1, 0) == ["3 calls wait for your answer", "1 command waits for your approval"]
