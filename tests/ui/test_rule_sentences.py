"""What a rule would have covered, as a person reads it: one call, several, none, and those that are not kept."""

import pytest

from tooltray.foundation.snapshots.approvals import JudgedCall, RulePreview
from tooltray.ui.approval.permission_words import of_late


@pytest.mark.parametrize(
    ("covered", "missed", "unknown", "said"),
    [
        (0, 0, 0, "No recent calls of this tool."),
        (0, 0, 1, "Recent calls could not be checked: their arguments are not recorded."),
        (1, 0, 0, "Matches the only recent call."),
        (0, 1, 1, "Does not match the only recent call. 1 more could not be checked: its arguments are not recorded."),
        (2, 0, 0, "Matches all 2 recent calls."),
        (0, 2, 0, "Matches none of 2 recent calls."),
        (1, 2, 4, "Matches 1 of 3 recent calls. 4 more could not be checked: their arguments are not recorded."),
    ],
)
def test_it_is_said_how_many_recent_calls_a_rule_covers(covered: int, missed: int, unknown: int, said: str) -> None:
    calls = tuple(JudgedCall(0.0, "t", "c", "{}", number < covered) for number in range(covered + missed))
    assert of_late(RulePreview("", {}, calls=calls, unknown=unknown)) == said
