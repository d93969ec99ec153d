"""What a rule on arguments lets through and what it would have let through, as a person reads it.

Above it: RuleChoice, the Permissions page. Below it: i18n. The rule's own words are the engine's.
"""

from tooltray.snapshots.approvals import JudgedCall, RulePreview
from tooltray.ui.approvals.approval_body import warnings
from tooltray.ui.i18n import say, tr
from tooltray.ui.problem_words import in_a_row

MOST_CALLS = 6  # of each kind that are shown


def covered(words: str) -> str:
    """Returns what goes through by a rule, as a sentence; `words`: of the rule."""
    return tr("Goes through without asking: {calls}.", calls=say(words))


def of_late(preview: RulePreview) -> str:
    """Returns how many calls of late it would have let through."""
    known = len(preview.calls)
    through = sum(each.is_covered for each in preview.calls)
    if not known and not preview.unknown:
        return tr("There are no recent calls of this tool.")
    if not known:
        return tr("The arguments of recent calls are not kept, so nobody knows which of these {count} it covers.", count=preview.unknown)
    text = tr("Of {known} recent calls it covers {through}.", known=known, through=through)
    more = tr("{count} more cannot be judged: their arguments are not kept.", count=preview.unknown) if preview.unknown else ""
    return in_a_row(text, more)


def cautions(preview: RulePreview) -> str:
    """Returns what a person should know of it, a sentence on each line."""
    return warnings((*preview.problems, *preview.cautions))


def calls(preview: RulePreview, *, is_covered: bool) -> list[JudgedCall]:
    """Returns some of the calls of late that it covers, or does not."""
    return [each for each in preview.calls if each.is_covered is is_covered][:MOST_CALLS]
