"""Finds suspicious parts of a tool's definition: invisible characters, and text that gives orders to a model.

Pure; decides nothing. The author of a definition may write anything in it, so a finding is only a hint, and a definition without findings
may still be harmful.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tooltray.catalogue.definition import COVERED, ToolDefinition, definition_text, read_once_named
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

MOST_WARNINGS = 6  # users read no more before an answer
MARK_LENGTH = 16  # characters of a fingerprint that are shown
LONGEST_QUOTE = 120  # characters
LONGEST_TEXT = 100_000  # characters of a definition that are checked; a longer definition gets a warning for its length
REMEMBERED = 1024  # definitions whose warnings are cached

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # control, direction of writing, halves of characters, line separators
_JOINERS = "\u200c\u200d"  # words of several languages and joined emoji need them
_PLAIN_CONTROLS = "\n\t\r"
_SELECTORS = lazy_pattern("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")  # one selects a character's look; a row of them can hide a text

ORDERS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, lazy_pattern(pattern, re.IGNORECASE))
    for what, pattern in (
        (
            Phrase("tells the model to drop its instructions"),
            r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instructions?|rules|prompts?)\b",
        ),
        (Phrase("tells the model to drop its instructions"), r"(?:忽略|無視|无视|忘記|忘记)[^。\n]{0,20}(?:指示|指令|規則|规则|提示)"),
        (
            Phrase("tells the model to hide something from the user"),
            r"\b(?:do not|don't|never|without)(?: \w+)? (?:tell|mention|inform|notify|reveal|show)(?:ing)?\b[^.\n]{0,30}"
            r"\b(?:users?|person|humans?|anyone)\b",
        ),
        (
            Phrase("tells the model to hide something from the user"),
            r"(?:不要|別|别|勿|不得)[^。\n]{0,10}(?:告訴|告诉|通知|提及|透露)[^。\n]{0,10}(?:使用者|用戶|用户)",
        ),
        (
            Phrase("gives orders in the place of the program"),
            r"<\s{0,3}/?\s{0,3}(?:important|system|instructions?|secret|assistant)\s*>|\[/?INST\]|<\|im_start\|>",
        ),
        (
            Phrase("tells the model what to do with other tools"),
            r"\b(?:before|after|instead of|when(?:ever)?) (?:using|calling|running|invoking)\b[^.\n]{0,40}"
            r"\b(?:any|other|another|every|all)\b[^.\n]{0,20}\btools?\b",
        ),
        (
            Phrase("names places where keys and passwords are kept"),
            r"~/\.(?:ssh|aws|gnupg|config|cursor|claude)\b|\bid_(?:rsa|ed25519)\b|/etc/(?:passwd|shadow)\b|\bmcp\.json\b",
        ),
        (
            Phrase("tells the model to act without asking"),
            r"\bwithout (?:asking|confirmation|the user'?s? (?:consent|permission|knowledge))\b"
            r"|(?:無須|无须|不必|不用)(?:詢問|询问|確認|确认)",
        ),
    )
)
"""Warnings, each with the pattern of the texts that it is about. Repetitions are bounded, as a long text would otherwise block the loop for
minutes. Words that good definitions have too (`must`, `always`) are not among them.
"""


def warnings(definition: ToolDefinition) -> tuple[str, ...]:
    """Returns warnings about a definition that the user should read before an approval, one sentence each; quotes in them are readable and
    bounded.
    """
    return _warnings(definition_text(definition))


def visible(text: str) -> str:
    """Returns a text with all characters visible: invisible ones are written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(each if _is_seen(text, place) else _escape(each) for place, each in enumerate(text))


def named_with_mark(name: str, mark: str) -> str:
    """Returns a name with the beginning of its definition's fingerprint, for the user and the audit trail."""
    return f"{visible(name)} {mark[:MARK_LENGTH]}"


@lru_cache(REMEMBERED)
def _warnings(definition: str) -> tuple[str, ...]:
    found: list[str] = []
    if len(definition) > LONGEST_TEXT:
        found.append(Phrase("the definition is very long ({size} characters); its end was not looked at", size=f"{len(definition):,}"))
    for where, text in _texts(definition[:LONGEST_TEXT] if len(definition) > LONGEST_TEXT else definition):
        found += _about(where, text)
    return tuple(dict.fromkeys(found))[:MOST_WARNINGS]


def _texts(definition: str) -> Iterator[tuple[str, str]]:
    try:
        members = read_once_named(definition.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        yield Phrase("the definition"), definition
        return
    for key in COVERED:
        for text in _strings(members.get(key)):
            yield Phrase("its {member}", member=key), text


def _strings(value: Any) -> Iterator[str]:
    """Yields all texts in a value in order, at any depth, including names of members."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as members:
                waiting += [each for pair in reversed(members.items()) for each in reversed(pair)]
            case list() as items:
                waiting += reversed(items)


def _about(where: str, text: str) -> Iterator[str]:
    hidden = [each for place, each in enumerate(text) if not _is_seen(text, place)]
    if rows := _SELECTORS.findall(text):
        hidden += [each for row in rows for each in row]
    if hidden:
        shown = ", ".join(f"U+{ord(each):04X}" for each in dict.fromkeys(hidden[:3]))
        shown += ", ..." if len(set(hidden)) > 3 else ""
        yield Phrase("{where} has invisible characters ({count}: {shown})", where=where, count=len(hidden), shown=shown)
    for what, pattern in ORDERS:
        if match := pattern.search(text):
            yield Phrase("{where} {what}: \u201c{quote}\u201d", where=where, what=what, quote=_quoted(match))


def _quoted(match: re.Match[str]) -> str:
    text = " ".join(visible(match[0]).split())
    return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "…"


def _is_seen(text: str, place: int) -> bool:
    sign = text[place]
    if sign in _PLAIN_CONTROLS:
        return True
    if sign in _JOINERS:
        return place > 0 and not text[place - 1].isascii()
    return unicodedata.category(sign) not in _UNSEEN


def _escape(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
