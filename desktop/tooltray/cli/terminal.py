"""The output to the user's terminal: clean text, tables, JSON, errors. Nothing here is coloured.

Servers write names, descriptions, results and stderr; none of these may move the cursor, recolour the screen or hide text, so all go
through `clean` or `clean_line`.
"""

import json
import os
import shlex
import sys
import time
import unicodedata
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tooltray.cli.speech import in_one_line, say, tr
from tooltray.foundation.errors import Problem
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase, as_json

T = TypeVar("T")

# CSI sequences; OSC, DCS, APC, PM and SOS strings (bounded, so that hostile text costs linear time); other escapes; 8-bit CSI
_ESCAPES = lazy_pattern(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x1b\x07\x9c]{0,4096}(?:\x1b\\|\x07|\x9c)|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
# C0 without tab and newline, DEL, C1, and the marks that reverse the direction of text (they make one name look like another)
_INVISIBLE = lazy_pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_LONE_SURROGATES = lazy_pattern("[\ud800-\udfff]")
_NOT_FOR_TERMINALS_IN_JSON = lazy_pattern("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_COLUMN_GAP = "  "
_STATE_WORDS = {"on_demand": Phrase("sleeping"), "waiting": Phrase("waits for a project"), "needs_sign_in": Phrase("needs sign-in")}
_COUNTED = {
    "AI client": (Phrase("1 AI client"), Phrase("{count} AI clients", count="{count}")),
    "attachment": (Phrase("1 attachment"), Phrase("{count} attachments", count="{count}")),
    "byte": (Phrase("1 byte"), Phrase("{count} bytes", count="{count}")),
    "day": (Phrase("1 day"), Phrase("{count} days", count="{count}")),
    "entry": (Phrase("1 entry"), Phrase("{count} entries", count="{count}")),
    "hour": (Phrase("1 hour"), Phrase("{count} hours", count="{count}")),
    "line": (Phrase("1 line"), Phrase("{count} lines", count="{count}")),
    "minute": (Phrase("1 minute"), Phrase("{count} minutes", count="{count}")),
    "second": (Phrase("1 second"), Phrase("{count} seconds", count="{count}")),
    "secret": (Phrase("1 secret"), Phrase("{count} secrets", count="{count}")),
    "server": (Phrase("1 server"), Phrase("{count} servers", count="{count}")),
    "tool": (Phrase("1 tool"), Phrase("{count} tools", count="{count}")),
    "token": (Phrase("1 token"), Phrase("{count} tokens", count="{count}")),
    "value": (Phrase("1 value"), Phrase("{count} values", count="{count}")),
}
_OF_ARGPARSE = (
    Phrase("argument {option}", option=""),
    Phrase("expected one argument"),
    Phrase("expected at least one argument"),
    Phrase("invalid choice: {value} (choose from {choices})", value="", choices=""),
    Phrase("invalid {kind} value: {value}", kind="", value=""),
    Phrase("not allowed with argument {option}", option=""),
    Phrase("the following arguments are required: {names}", names=""),
    Phrase("unrecognized arguments: {words}", words=""),
    Phrase("ambiguous option: {option} could match {others}", option="", others=""),
    Phrase("one of the arguments {names} is required", names=""),
    Phrase("ignored explicit argument {value}", value=""),
)
"""The texts with which argparse rejects a line, for the catalogues: `say` recognises such a text by its words."""
NOT_KNOWN = "?"  # for an unknown number; neither 0 nor the sign for none
LAST_DAY = 10**10  # unix seconds; the calendar ends there
_LEAST_LAST_COLUMN = 20  # columns; in narrower terminals a wrapped line reads better than a cut one


def clean(text: str) -> str:
    """Removes control characters and escape sequences from server text, and keeps lines and tabs."""
    if text.isprintable():
        return text
    text = _ESCAPES.sub("", text.replace("\r\n", "\n")).replace("\r", "\n")
    return _LONE_SURROGATES.sub("\ufffd", _INVISIBLE.sub("", text))


def clean_line(text: str) -> str:
    """Cleans a text and puts it on one line: each run of white space becomes one space."""
    return " ".join(clean(text).split())


def width(text: str) -> int:
    """Returns the columns that a line takes in a terminal: two for East Asian wide characters, zero for combining marks."""
    if text.isascii():
        return len(text)
    return sum(_character_width(each) for each in text)


def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, columns: int) -> str:
    """Returns the start of a line that fits into so many columns, with an ellipsis if a part is missing."""
    if width(text) <= columns:
        return text
    kept, used = [], 1  # the ellipsis takes one
    for character in text:
        used += _character_width(character)
        if used > columns:
            break
        kept.append(character)
    return "".join(kept) + "…"


def columns_of_terminal() -> int | None:
    """Returns how wide standard output is, or None where it is not a terminal and nothing needs to fit."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints rows of server text in columns; in a terminal the last column is cut where the line would wrap."""
    cells = [list(titles), *([clean_line(cell) for cell in row] for row in rows)]
    widths = [max(width(row[column]) for row in cells) for column in range(len(titles))]
    room = columns_of_terminal()
    used = sum(widths[:-1]) + len(_COLUMN_GAP) * (len(widths) - 1)
    for row in cells:
        if room is not None:
            row[-1] = cut(row[-1], max(room - used, _LEAST_LAST_COLUMN))
        padded = [cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)]
        print(_COLUMN_GAP.join(padded).rstrip())


def to_json(value: object, *, indent: int | None = 2) -> str:
    """Returns JSON that users can read and that is safe in a terminal: characters that terminals act on are escaped even if `json` would
    not escape them.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _NOT_FOR_TERMINALS_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_json(value: object) -> None:
    """Prints a plain value, or snapshots."""
    print(to_json(as_json(value)))


def answer(args: Namespace, value: object, *lines: str) -> int:
    """Prints the result of a command: `value` with `--json`, else the lines as they are.

    Returns:
        The exit code 0.
    """
    if args.json:
        print_json(value)
    else:
        for line in lines:
            print(say(line))
    return 0


def answer_list(args: Namespace, items: Sequence[T], titles: Sequence[str], row: Callable[[T], Sequence[str]], *, empty: str) -> int:
    """Prints a list as the result of a command: JSON, or a table; `empty` is printed for an empty list."""
    if args.json:
        print_json(items)
    elif items:
        print_table(titles, [row(each) for each in items])
    else:
        print(say(empty))
    return 0


def print_error(problem: Problem, *, as_json: bool) -> None:
    """Prints one line on standard error, in words or as a JSON object."""
    if as_json:
        error = {"title": problem.title, "message": problem.message, "hint": problem.hint}
        print(to_json({"error": error}, indent=None), file=sys.stderr)
    else:
        print(f"tooltray: {problem_line(problem)}", file=sys.stderr)


def print_note(text: str) -> None:
    """Prints a note to the user beside the result; on standard error, to keep it out of pipes."""
    print(clean_line(say(text)), file=sys.stderr)


def print_notes(lines: Iterable[str]) -> None:
    for line in lines:
        print_note(line)


def problem_line(problem: Problem | None) -> str:
    """Returns a problem in one line; empty for no problem."""
    return clean_line(in_one_line(problem.title, problem.message, problem.hint)) if problem else ""


def state_in_words(state: str) -> str:
    """Returns the value of a server's state in words."""
    return say(_STATE_WORDS.get(state, state))


def day(moment: float) -> str:
    """Formats a time in unix seconds; times in a file may have been written by hand."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment)) if 0 <= moment < LAST_DAY else "?"


def moment(at: float) -> str:
    """Formats a time in unix seconds to the second; a clock may have shown anything."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    except (OverflowError, OSError, ValueError):
        return "?"


def needs_sign_in(server: str) -> str:
    """Describes how to sign in to a server that waits for it."""
    return tr("it wants you to sign in. Do so with: tooltray servers sign-in {server}", server=shlex.quote(server))


def count(number: int, noun: str) -> str:
    """Formats a number with its noun: `1 tool`, `2 tools`.

    Args:
        noun: a key of _COUNTED.
    """
    one, many = _COUNTED[noun]
    return say(one) if number == 1 else say(many).replace("{count}", str(number))
