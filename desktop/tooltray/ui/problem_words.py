"""How a Problem is written where a person reads it."""

import unicodedata

from tooltray.errors import Problem
from tooltray.ui.i18n import say

WIDE = ("W", "F")  # characters of scripts that have a full stop of their own


def title(problem: Problem) -> str:
    """Returns what happened, as the beginning of a sentence."""
    text = say(problem.title)
    return text[:1].upper() + text[1:]


def sentences(problem: Problem) -> str:
    """Returns the facts and what to do, as sentences below the title."""
    return " ".join(_sentence(part) for part in (problem.message, problem.hint) if part.strip())


def whole(problem: Problem) -> str:
    """Returns everything that is known of it."""
    return " ".join(_sentence(part) for part in (problem.title, problem.message, problem.hint) if part.strip())


def _sentence(text: str) -> str:
    text = say(text).strip()
    if text.split(maxsplit=1)[0].strip(",;:").isalpha():  # a file's or a command's name stays as it is
        text = text[0].upper() + text[1:]
    if text.endswith((".", "!", "?", ":", "。")):
        return text
    return text + ("。" if unicodedata.east_asian_width(text[-1]) in WIDE else ".")
