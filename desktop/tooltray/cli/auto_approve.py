"""The rules of a server's `autoApprove` as they are typed: checks them, compares them, describes them.

catalogue/approval and settings/widening, which know what a rule means, are imported only when a rule is typed.
"""

from collections.abc import Mapping, Sequence

from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean_line
from tooltray.foundation.errors import TooltrayError

ALL, READ, WRITE = "all", "read", "write"


def checked(server: str, rules: Sequence[str]) -> list[str]:
    """
    Raises:
        TooltrayError: a rule has no meaning.
    """
    from tooltray.catalogue import approval

    if problem := approval.problem_of(server, rules, ()):
        known = ", ".join(f"{key}..." if key.endswith(":") else key for key in approval.RULES)
        hint = tr("Rules are a tool's name and: {known}", known=known)
        raise TooltrayError(tr("Not every rule for {server} means something", server=clean_line(server)), problem.message, hint)
    return list(dict.fromkeys(rules))


def of_entry(entry: Mapping[str, object]) -> list[str]:
    """Returns the rules of an entry of the settings."""
    rules = entry.get("autoApprove", [READ])
    return [rule for rule in rules if isinstance(rule, str)] if isinstance(rules, list) else [READ]


def narrows(rules: Sequence[str], before: Sequence[str]) -> bool:
    """Reports whether these rules allow only calls that the former rules allowed, for any tools."""
    from tooltray.config.settings.widening import rules_widen

    return not rules_widen((*before, ALL) if {READ, WRITE} <= {*before} else before, rules)


def in_words(rules: Sequence[str]) -> str:
    """Describes the rules of a server that was added."""
    if ALL in rules:
        return tr("All its tools may be called without asking (autoApprove: all).")
    if not rules:
        return tr("Each call of its tools is asked about (autoApprove: nothing).")
    listed = ", ".join(clean_line(rule) for rule in rules)
    if list(rules) == [READ]:
        return tr("Tools that read may be called without asking; writes ask (autoApprove: read).")
    return tr("What these rules cover may be called without asking, all else asks (autoApprove: {listed}).", listed=listed)
