"""Makes a line of another program harmless to show: plain text on one line, in the order in which it was written."""

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x1b\x07\x9c]{0,4096}(?:\x1b\\|\x07|\x9c)|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
"""Sequences of ECMA-48: colours, cursor movements, titles, links."""
_UNSEEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters but the tab, marks of writing direction, separators of lines, halves of characters."""


def plain_line(text: str) -> str:
    """Returns a text without escape sequences; other invisible characters become `\N{REPLACEMENT CHARACTER}`."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    text = text.rpartition("\r")[2] if "\r" in text.rstrip("\r") else text.rstrip("\r")  # a progress bar writes over itself
    return text if text.isprintable() else _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)
