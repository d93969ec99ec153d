"""What the Activity page says of entries, times and filters."""

from datetime import datetime

import pytest
from msgspec.structs import replace
from tests.fakes.journal_in_memory import entry

from tooltray.foundation.snapshots.activity import DECLINED, ActivityDetails, ActivityFilter, ActivityRow, ActivityTimes, CallNow
from tooltray.ui.activity import activity_words as words
from tooltray.ui.activity.activity_list import with_value, without
from tooltray.ui.state_language import Look

pytestmark = pytest.mark.usefixtures("app")
NOON = datetime(2026, 11, 25, 12, 0, 0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.00012, "0.1 ms"), (0.0124, "12 ms"), (0.9994, "999 ms"), (3.21, "3.2 s"), (125.0, "2 min 5 s"), (5400.0, "1 h 30 min")],
)
def test_times_have_three_digits_at_most(seconds: float, text: str) -> None:
    assert words.took(seconds) == text


def test_a_time_of_today_has_seconds_and_an_older_one_its_day() -> None:
    assert words.at(NOON.timestamp() + 1.9, NOON) == "12:00:01"
    assert words.at(NOON.timestamp() - 86400, NOON) == "Tue 12:00"
    assert words.milliseconds(None) == "–"


@pytest.mark.parametrize(
    ("kind", "outcome", "word", "icon"),
    [
        ("call", "ok", "Done", ""),
        ("call", "error", "Failed", "state-error"),
        ("call", "refused", "Not allowed", "state-waiting"),
        ("call", "cancelled", "Cancelled", ""),
        ("failure", "", "Failed", "state-error"),
        ("approval", "once", "Allowed once", ""),
        ("approval", "session", "Allowed for the session", ""),
        ("approval", "hour", "Allowed for a time", ""),
        ("approval", "reads", "Always allowed", ""),
        ("approval", "refused", "Declined", "state-waiting"),
        ("approval", "late", "No answer", "state-waiting"),
        ("approval", "cancelled", "Cancelled", ""),
        ("question", "accept", "Answered", ""),
        ("question", "cancel", "Declined", ""),
        ("question", "error", "Failed", "state-error"),
        ("question", "late", "No answer", "state-waiting"),
        ("question", "cancelled", "Cancelled", ""),
    ],
)
def test_only_what_went_wrong_has_a_shape(kind: str, outcome: str, word: str, icon: str) -> None:
    look = words.outcome_look(entry(1, kind=kind, outcome=outcome))
    assert (look.word, look.icon) == (word, icon)


@pytest.mark.parametrize(
    ("reason", "word", "text"),
    [
        (f"{DECLINED} of 'write_file' a short while ago; do not call it again", "Declined", "You declined this call."),
        ("'write_file' changes things. The user cannot be asked here.", "Not allowed", None),
    ],
)
def test_the_user_s_no_is_told_from_a_call_that_no_one_answered(reason: str, word: str, text: str | None) -> None:
    call = entry(1, outcome="refused", reason=reason)
    assert words.outcome_look(call) == Look("state-waiting", "warning", word)
    assert words.reason(call) == (text or reason)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"kind": "call"}, "read_file"),
        ({"kind": "call", "tool": "", "published": "fs_read"}, "fs_read"),
        ({"kind": "start"}, "fs started"),
        ({"kind": "start", "outcome": "error"}, "fs did not start"),
        ({"kind": "stop"}, "fs stopped"),
        ({"kind": "failure"}, "fs failed"),
        ({"kind": "failure", "server": ""}, "Entries are missing"),
        ({"kind": "question"}, "Question to you"),
        ({"kind": "approval", "tool": ""}, "Approval"),
    ],
)
def test_each_kind_of_entry_says_what_it_is_about(fields: dict[str, str], text: str) -> None:
    assert words.subject(entry(1, **fields)) == text


@pytest.mark.parametrize(
    ("kind", "why", "text"),
    [
        ("start", "person", "You started it."),
        ("stop", "person", "You stopped it."),
        ("start", "client", "Claude Code needed it."),
        ("stop", "client", "Claude Code needs it no more."),
        ("stop", "idle", "It was idle."),
        ("stop", "settings", "Its settings were changed."),
        ("start", "hub", "Started with Tooltray, or restarted after it exited."),
        ("stop", "hub", "Tooltray ended or was paused."),
        ("start", "x", "x"),
        ("failure", "It ended", "It ended"),
    ],
)
def test_what_happened_to_a_server_says_why(kind: str, why: str, text: str) -> None:
    assert words.touched(entry(1, kind=kind, reason=why)) == words.reason(entry(1, kind=kind, reason=why)) == text


@pytest.mark.parametrize(
    ("by", "text"),
    [("person", "You answered in Tooltray."), ("client", "It was answered in Claude Code."), ("ci", "The program ci answered."), ("", "")],
)
def test_an_approval_says_who_answered(by: str, text: str) -> None:
    assert words.reason(entry(1, kind="approval", outcome="once", reason=by)) == text


def test_a_group_says_from_when_to_when_also_if_the_clock_was_set_back() -> None:
    group = ActivityRow(entry(9, at=NOON.timestamp()), 3, 7, NOON.timestamp() + 60)
    assert words.row_time(group).endswith("12:01:00 to 11/25/26 12:00:00")
    assert words.spoken(group) == "read_file, 3 times"


@pytest.mark.parametrize(
    ("kind", "servers", "count", "starts", "failures", "said"),
    [
        ("start", ("fs",), 1, 1, 0, ("fs started", "Done")),
        ("start", ("fs",), 2, 1, 0, ("fs restarted", "Done")),
        ("start", ("fs",), 7, 3, 1, ("fs restarted 3 times", "1 failed")),
        ("start", ("fs",), 2, 2, 0, ("fs started", "Done")),
        ("stop", ("fs",), 2, 1, 0, ("fs stopped", "Done")),
        ("failure", ("fs",), 5, 0, 5, ("fs failed 5 times", "Failed")),
        ("failure", ("fs",), 3, 1, 2, ("fs failed", "2 failed")),
        ("stop", ("fs", "git"), 2, 0, 0, ("2 servers stopped", "Done")),
        ("failure", ("fs", "git"), 2, 0, 2, ("2 servers failed", "Failed")),
        ("start", ("fs", "git"), 2, 2, 0, ("2 servers started", "Done")),
        ("start", ("fs", "git"), 4, 2, 0, ("2 servers restarted", "Done")),
    ],
)
def test_events_of_servers_in_a_row_are_said_in_one_line(
    kind: str, servers: tuple[str, ...], count: int, starts: int, failures: int, said: tuple[str, str]
) -> None:
    newest = entry(9, kind=kind, server=servers[0], tool="", outcome="error" if kind == "failure" else "ok")
    row = ActivityRow(newest, count, 1, 0.0, servers, starts, failures)
    assert (words.row_subject(row), words.row_outcome(row).word) == said
    assert words.row_servers(row) == ", ".join(servers)
    assert words.spoken(row) == said[0]


def test_tooltray_s_own_server_has_the_name_that_users_know() -> None:
    assert words.row_servers(ActivityRow(entry(9, server="hub"), 1, 1, 0.0)) == "Tooltray's own"


@pytest.mark.parametrize(
    ("by", "text"),
    [
        ("rules", "Your settings: it runs without asking"),
        ("grant", "A permission that you gave earlier"),
        ("edited", "You, when it asked. You changed the arguments."),
        ("another", "another"),
    ],
)
def test_who_let_a_call_through_is_said(by: str, text: str) -> None:
    assert words.allowed_by(ActivityDetails(entry(1), allowed_by=by)) == text


@pytest.mark.parametrize(
    ("waits_for", "text"), [("person", "waiting for your approval"), ("start", "waits for fs to start"), ("server", "waits for fs")]
)
def test_what_a_call_waits_for_is_said(waits_for: str, text: str) -> None:
    assert words.waits(CallNow("c", "s", "", "fs", "t", 0.0, waits_for)) == text


def test_each_filter_has_a_chip_and_can_be_taken_away_alone() -> None:
    at = NOON.timestamp()
    filter = ActivityFilter("x", ("stop",), (), ("tooltray",), ("s3",), ("/p",), ("fs",), ("t",), at, at + 900)
    chips = words.chips(filter, NOON)
    labels = ["Stops", "Client: You", "Server: fs", "Tool: t", "Project: /p", "One session", "12:00 – 12:15"]
    assert [chip.label for chip in chips] == labels
    for chip in chips:
        filter = without(filter, chip)
    assert filter == ActivityFilter("x")
    assert with_value(with_value(filter, "servers", "a"), "servers", "a").servers == ("a",)


@pytest.mark.parametrize(("since", "until", "text"), [(0.0, 900.0, "12:15"), (900.0, 0.0, "12:15")])
def test_a_stretch_with_one_end_says_which(since: float, until: float, text: str) -> None:
    at = NOON.timestamp()
    said = words.stretch(at + since if since else 0.0, at + until if until else 0.0, NOON)
    assert said == (f"From {text}" if since else f"Until {text}")


def test_a_row_of_several_calls_says_that_there_are_other_targets() -> None:
    one = entry(3, touched="/a/b.txt")
    assert words.row_target(ActivityRow(one, 3, 1, 1.0)) == "/a/b.txt"
    assert words.row_target(ActivityRow(one, 3, 1, 1.0, has_other_targets=True)) == "/a/b.txt, …"
    assert words.row_target(ActivityRow(replace(one, touched=""), 3, 1, 1.0, has_other_targets=True)) == ""


@pytest.mark.parametrize(
    ("allowed_by", "name"),
    [("person", "Your approval"), ("edited", "Your approval"), ("", "Your approval"), ("rules", "Your answer"), ("grant", "Your answer")],
)
def test_the_time_of_an_answer_to_a_server_s_question_is_not_called_an_approval(allowed_by: str, name: str) -> None:
    details = ActivityDetails(entry(1), ActivityTimes(person_s=4.0, server_s=0.5), allowed_by=allowed_by)
    assert [title for title, seconds in words.stages(details) if seconds == 4.0] == [name]
