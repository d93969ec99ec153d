"""Sentences about what a rule on arguments covers and would have covered. The rule's own text is the engine's."""

from tooltray.foundation.snapshots.approvals import JudgedCall, RulePreview, tried_in_words
from tooltray.ui.approval.approval_body import warnings
from tooltray.ui.i18n import say, tr
from tooltray.ui.problem_words import in_a_row

MOST_CALLS = 6  # of each kind that are shown


def covered(words: str) -> str:
    """Returns which calls run without asking by a rule, as a sentence; `words`: of the rule."""
    return tr("Runs without asking: {calls}.", calls=say(words))


def of_late(preview: RulePreview) -> str:
    """Returns how many recent calls a rule would have covered."""
    return in_a_row(*map(say, tried_in_words(preview)))


def cautions(preview: RulePreview) -> str:
    """Returns what the user should know about a rule, a sentence on each line."""
    return warnings((*preview.problems, *preview.cautions))


def calls(preview: RulePreview, *, is_covered: bool) -> list[JudgedCall]:
    """Returns some recent calls that a rule covers, or does not cover."""
    return [each for each in preview.calls if each.is_covered is is_covered][:MOST_CALLS]
