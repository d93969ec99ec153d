"""approvals/approval_form.py"""

import pytest
from msgspec import Raw
from msgspec.structs import replace

from tooltray.approvals.approval_form import LONGEST_ARGUMENTS, MOST_LINES, answer_in, params_of
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, failure, success
from tooltray.sessions.elicitation_form import AT_ONCE_S
from tooltray.snapshots.approvals import ApprovalSnapshot

QUESTION = ApprovalSnapshot(
    id="1", server="s", tool="t", client="", category="read", arguments='{"a": 1}', why="so", ends_at=0.0, choices=("once", "reads")
)


def message(question: ApprovalSnapshot) -> list[str]:
    lines: list[str] = envelope.load(params_of(question))["message"].split("\n")
    return lines


def test_the_form_says_what_is_called_and_offers_a_no_first() -> None:
    assert message(QUESTION) == [
        "An AI client wants to call the tool 't' of the server 's' (read).",
        "It asks because so.",
        "Arguments:",
        '{"a": 1}',
    ]
    field = envelope.load(params_of(QUESTION))["requestedSchema"]["properties"]["answer"]
    assert (field["enum"], field["default"]) == (["refuse", "once", "reads"], "refuse")
    assert field["enumNames"] == ["No", "Yes, this once", "Yes, for all tools of this server that read"]


def test_the_form_has_all_that_the_window_shows() -> None:
    lines = message(replace(QUESTION, project="/p", warnings=("odd",), diff=("-a", "+b"), definition_diff=("+c",)))
    assert lines[1:8] == [
        "Project: /p",
        "It asks because so.",
        "Careful: odd",
        "The definition has changed:",
        "+c",
        "It would change:",
        "-a",
    ]


def test_long_parts_are_cut_and_that_is_said() -> None:
    lines = message(replace(QUESTION, arguments="\n".join("x" * 9 for _ in range(500)), diff=("+y",) * (MOST_LINES + 1)))
    assert lines.count("…") == 2
    assert len("\n".join(lines)) < LONGEST_ARGUMENTS + 1000
    assert message(replace(QUESTION, arguments="z" * (LONGEST_ARGUMENTS + 1)))[-2:] == ["z" * LONGEST_ARGUMENTS, "…"]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (success({"action": "accept", "content": {"answer": "once"}}), "once"),
        (success({"action": "accept", "content": {"answer": "always"}}), "refuse"),
        (success({"action": "accept", "content": []}), "refuse"),
        (success({"action": "decline"}), "refuse"),
        (success({"action": "cancel"}), None),
        (success([]), None),
        (Envelope(result=Raw(b"{")), None),
        (failure(-1, "no"), None),
    ],
)
def test_only_a_choice_that_was_offered_is_a_yes(reply: Envelope, answer: str | None) -> None:
    assert answer_in(reply, QUESTION, AT_ONCE_S) == answer


def test_a_no_within_a_moment_is_nobodys_and_a_yes_is_one() -> None:
    assert answer_in(success({"action": "decline"}), QUESTION, AT_ONCE_S / 2) is None
    assert answer_in(success({"action": "accept", "content": {"answer": "refuse"}}), QUESTION, AT_ONCE_S / 2) is None
    assert answer_in(success({"action": "accept", "content": {"answer": "once"}}), QUESTION, 0.0) == "once"
