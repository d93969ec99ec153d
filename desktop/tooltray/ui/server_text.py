"""Text of a server or a model without invisible parts: terminal colours, control and direction marks."""

import re
import unicodedata
from html import escape

from PySide6.QtGui import Qt

UNSEEN = ("Cc", "Cf", "Co", "Cs", "Cn")  # control, direction, invisible and unassigned signs: none says what it seems to say
KEPT = "\n\t\u200c\u200d"  # joiners belong to words and to emoji
LONGEST_LINE = 2_000  # characters; Qt lays a line out as a whole, and one of a million freezes the window
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
_PLAIN = re.compile(r"[\n\t\x20-\x7e]*")


def seen(text: str) -> str:
    """Returns a text without invisible characters, on as many lines as before."""
    if _PLAIN.fullmatch(text):
        return text
    text = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(sign for sign in text if sign in KEPT or unicodedata.category(sign) not in UNSEEN)


def one_line(text: str, most: int) -> str:
    """Returns the beginning of a text on one line.

    Args:
        most: characters.
    """
    cut = text[: most + 1]
    line = " ".join(seen(cut).split())
    return f"{line[:most]}…" if len(cut) > most else line


def shortened(text: str, most: int) -> str:
    """Returns a text without its middle if it has more than `most` characters."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2) :]}"


def plain_tip(text: str) -> str:
    """Returns a text that a tooltip shows unchanged: text that looks like HTML would be rendered, and its pictures loaded."""
    return escape(text) if Qt.mightBeRichText(text) else text


def broken(text: str) -> str:
    """Returns a text with its lines broken before they are too long for the layout."""
    if len(text) <= LONGEST_LINE:
        return text
    return "\n".join(line if len(line) <= LONGEST_LINE else _pieces(line) for line in text.split("\n"))


def _pieces(line: str) -> str:
    return "\n".join(line[place : place + LONGEST_LINE] for place in range(0, len(line), LONGEST_LINE))
