"""Detects the level of a line of a server's output, by the spellings of programs in Python, Node, Go and Rust. Only the beginning of a line
is looked at: words like "error" in the middle of a text do not show its level, while loggers put the level in front."""

import re
from collections.abc import Mapping

LOOKED_AT = 240  # characters; time, name and level are in front, at most after a long path
JSON_LOOKED_AT = 4000  # of an object, whose members may be in any order

_NAMES: Mapping[str, str] = {
    **dict.fromkeys(
        ("error", "err", "fatal", "critical", "crit", "panic", "emerg", "emergency", "alert", "severe", "eror", "ftl"), "error"
    ),
    **dict.fromkeys(("warning", "warn", "wrn"), "warning"),
    **dict.fromkeys(("info", "notice", "inf", "information"), "info"),
    **dict.fromkeys(("debug", "trace", "verbose", "silly", "dbg", "trc", "fine"), "debug"),
}
_KEYS = (b"level", b"lvl", b"severity")
WORDS: Mapping[str, tuple[bytes, ...]] = {
    "error": (
        b"err",
        b"eror",
        b"fatal",
        b"crit",
        b"panic",
        b"emerg",
        b"alert",
        b"severe",
        b"ftl",
        b"exception",
        b"traceback",
        b"unhandled",
        b"goroutine",
        b" e",
        b" f",
        *_KEYS,
    ),
    "warning": (b"warn", b"wrn", b" w", *_KEYS),
    "info": (),
    "debug": (b"debug", b"trace", b"verbose", b"silly", b"dbg", b"trc", b"fine", *_KEYS),
}
"""In lower case: a text without any of these has no line of that level; empty: words cannot exclude that level."""

_WORD = "|".join(sorted(_NAMES, key=len, reverse=True))
_NUMBERS = ((50, "error"), (40, "warning"), (30, "info"), (0, "debug"))  # pino and bunyan, from this number on
_KEYED = re.compile(rf'(?:^|[\s,{{])"?(?:level|lvl|severity|levelname)"?\s*[=:]\s*"?(?:(?P<number>\d{{1,2}})\b|(?P<word>{_WORD})\b)', re.I)
_UPPER = re.compile(rf"(?:^|[\s\[(|<:])(?P<word>{_WORD.upper()})(?=$|[\s\]):|>\[,])")
_BRACKETED = re.compile(rf"[\[<(](?P<word>{_WORD})[\]>)]", re.I)
_FIRST = re.compile(rf"^(?:[\d\-:.,TZ+/ ]+ )?(?:\S{{1,40}} )?(?P<word>{_WORD})(?:\[[^\]]*\])?: ", re.I)
_NPM = re.compile(r"^(?:npm|yarn|pnpm) (?P<word>error|err!|warn|notice)", re.I)
_KLOG = re.compile(r"^(?P<word>[IWEF])\d{4} \d\d:")
_FAILURE = re.compile(
    r"^(?:Traceback \(most recent call last\)|thread '.*' (?:\(\d+\) )?panicked at |(?:Uncaught )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)"
    r"(?: \[\w+\])?(?:: |$)|Unhandled(?:PromiseRejection)?|goroutine \d+ )"
)
_EXCEPTION = re.compile(r"^(?:\w+\.)+[A-Z]\w*(?:: |$)")
_KLOG_NAMES = {"I": "info", "W": "warning", "E": "error", "F": "error"}


def level_of(text: str) -> str:
    """Returns the level of a line, one of LEVELS; empty if the line shows none."""
    is_json = text.startswith("{")
    head = text[: JSON_LOOKED_AT if is_json else LOOKED_AT]
    if keyed := _KEYED.search(head):
        return _of_number(int(keyed["number"])) if keyed["number"] else _NAMES[keyed["word"].lower()]
    if is_json:
        return ""
    for pattern in (_UPPER, _BRACKETED, _FIRST):
        if found := pattern.search(head):
            return _NAMES[found["word"].lower()]
    if found := _NPM.match(head):
        return {"e": "error", "w": "warning"}.get(found["word"][0].lower(), "info")
    if found := _KLOG.match(head):
        return _KLOG_NAMES[found["word"]]
    return "error" if _FAILURE.match(head) else ""


def level_behind(text: str, before: str) -> str:
    """Returns the level of a line that follows one of a level: frames of a stack, and the exception after them, have the same."""
    if belongs_to_last(text) or (before == "error" and _EXCEPTION.match(text)):
        return before
    return level_of(text)


def belongs_to_last(text: str) -> bool:
    """Reports whether a line continues the one above it: a frame of a stack, a wrapped text."""
    return text[:1] in (" ", "\t") or text.startswith(("Caused by", "During handling of the above", "The above exception was"))


def _of_number(number: int) -> str:
    return next((level for lowest, level in _NUMBERS if number >= lowest), "debug") if number > 7 else _of_syslog(number)


def _of_syslog(number: int) -> str:
    """Returns the level for a severity of RFC 5424, where 0 is the worst."""
    return "error" if number <= 3 else "warning" if number == 4 else "info" if number <= 6 else "debug"
