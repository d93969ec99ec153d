"""The rules on arguments that grants carry, read once for each.

Above it: GrantBook and CallRules. Below it: call_rule, rule_words. A rule that cannot be read allows nothing.
"""

import json
from functools import lru_cache

from tooltray.approvals import rule_words
from tooltray.approvals.grants import Grant
from tooltray.errors import TooltrayError
from tooltray.phrases import Phrase
from tooltray.settings.call_rule import CallRule, read_rule

REMEMBERED = 1024  # more than anybody makes

UNREADABLE = Phrase("nothing: its rule cannot be read")


def rule_of(grant: Grant) -> CallRule | None:
    """The rule of a grant of this kind; None: it has none that can be read."""
    return _read(json.dumps(grant.rule)) if grant.kind == "rule" else None


def words_of(grant: Grant) -> str:
    """The calls that it covers; empty for other kinds of grants."""
    if grant.kind != "rule":
        return ""
    rule = rule_of(grant)
    return rule_words.words(rule) if rule else UNREADABLE


@lru_cache(REMEMBERED)
def _read(text: str) -> CallRule | None:
    try:
        return read_rule(json.loads(text))
    except TooltrayError:
        return None
