"""The text of a Problem for the user; a server's card has its own sentence, by `server_words`."""

import re
import unicodedata

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.ui.i18n import say

PROGRAMS = ("npm ", "npx ", "uv ", "uvx ")  # begin sentences as they are written
WIDE = ("W", "F")  # characters of scripts that have a full stop of their own, and no space behind it


def title(problem: Problem) -> str:
    """Returns what happened, as the beginning of a sentence."""
    text = say(problem.title)
    return text if _begins_with_name(problem.title) or text.startswith(PROGRAMS) else text[:1].upper() + text[1:]


def sentences(problem: Problem) -> str:
    """Returns the facts and what to do, as sentences below the title."""
    return in_a_row(*(_sentence(part) for part in (problem.message, problem.hint) if part.strip()))


def whole(problem: Problem) -> str:
    """Returns the full text of a problem."""
    return in_a_row(*(_sentence(part) for part in (problem.title, problem.message, problem.hint) if part.strip()))


def in_a_row(*texts: str) -> str:
    """Joins sentences by the rules of their scripts."""
    row = ""
    for text in filter(None, texts):
        row += f" {text}" if row and not _is_wide(row[-1]) else text
    return row


def _sentence(text: str) -> str:
    is_translated, is_named, text = isinstance(text, Phrase) and say(text) != text, _begins_with_name(text), say(text).strip()
    if (
        not is_named and not text.startswith(PROGRAMS) and text.split(maxsplit=1)[0].strip(",;:").isalpha()
    ):  # a file's or a command's name stays as it is
        text = text[0].upper() + text[1:]
    if text.endswith((".", "!", "?", ":", "。")):
        return text
    return text + ("。" if is_translated or _is_wide(text[-1]) else ".")


def _begins_with_name(text: str) -> bool:
    """Returns whether a text begins with a value such as a host or a program, whose case must stay: npx is not Npx."""
    first = re.match(r"{(\w+)}", text.template) if isinstance(text, Phrase) else None
    return first is not None and isinstance(text, Phrase) and not isinstance(text.fields.get(first[1]), Phrase)


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in WIDE
