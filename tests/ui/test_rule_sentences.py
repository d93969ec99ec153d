"""What a rule would have covered, as a person reads it: one call, several, none, and those that are not kept."""

import pytest

from tooltray.foundation.snapshots.approvals import JudgedCall, RulePreview
from tooltray.ui.approvals.rule_sentences import of_late


@pytest.mark.parametrize(
    ("covered", "missed", "unknown", "said"),
    [
        (0, 0, 0, "There are no recent calls of this tool."),
        (0, 0, 1, "The arguments of recent calls are not kept, so it is not known which of them it covers."),
        (1, 0, 0, "It covers the only recent call."),
        (0, 1, 1, "It does not cover the only recent call. 1 more is not judged: its arguments are not kept."),
        (2, 0, 0, "It covers all 2 recent calls."),
        (0, 2, 0, "It covers none of 2 recent calls."),
        (1, 2, 4, "It covers 1 of 3 recent calls. 4 more are not judged: their arguments are not kept."),
    ],
)
def test_it_is_said_how_many_recent_calls_a_rule_covers(covered: int, missed: int, unknown: int, said: str) -> None:
    calls = tuple(JudgedCall(0.0, "t", "c", "{}", number < covered) for number in range(covered + missed))
    assert of_late(RulePreview("", {}, calls=calls, unknown=unknown)) == said
