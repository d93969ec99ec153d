"""Shows what a call would change, as readable lines: the edit in its arguments, and how one definition differs from another.

The functions are pure: the text of a file is passed in. A line begins with "+", "-" or " ".
"""

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from tooltray.catalogue.definition import COVERED, read_once_named
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.verbs import JsonMapping

MOST_LINES = 400  # of one diff, and of each side that is compared: comparing takes time, and users read no more
LONGEST_LINE = 500  # characters
MOST_EDITS = 50  # of one call
LINES_AROUND = 3  # unchanged lines around a change
CUT = " …"  # in the place of omitted lines
_STARTS_AT_THE_TOP = lazy_pattern(r"@@ -[01][, ]")  # lines before such a part are never left out
BEFORE_AND_AFTER = (
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("oldString", "newString"),
    ("old_string", "new_string"),
    ("oldStr", "newStr"),
    ("old_str", "new_str"),
    ("search", "replace"),
)
"""Names of well-known tools' arguments for the replaced and the new text."""
LISTS_OF_EDITS = ("edits", "changes", "replacements")
FILES = ("path", "file_path", "filePath", "filename", "relative_path", "file")
CONTENTS = ("content", "contents", "file_text", "new_content", "newContent")
PATCHES = ("patch", "diff")

Clean = Callable[[str], str]
"""Takes secrets out of a text."""


def of_arguments(arguments: object, clean: Clean) -> tuple[str, ...]:
    """Returns the change of an edit; nothing for arguments that are not an edit.

    Args:
        arguments: of the call, as Python values.
        clean: takes secrets out of a text.
    """
    if not isinstance(arguments, Mapping):
        return ()
    lines = (line for part in _edits(arguments, clean) for line in part)
    return _bounded(list(islice(lines, MOST_LINES + 1)))


def overwritten_file(arguments: object) -> str:
    """Returns the path of the file that a call would overwrite, as its arguments have it; empty if it overwrites none."""
    if not isinstance(arguments, Mapping) or not _first(arguments, CONTENTS):
        return ""
    return next(iter(_first(arguments, FILES)), "")


def of_file(arguments: JsonMapping, before: str, clean: Clean) -> tuple[str, ...]:
    """Returns how a file that a call would overwrite differs from its content on disk.

    Args:
        arguments: of a call that has an `overwritten_file`.
        before: the file's text on disk.
        clean: takes secrets out of a text.
    """
    [after] = _first(arguments, CONTENTS)
    return _bounded(_compared(clean(before).splitlines(), clean(after).splitlines()))


def of_definitions(before: str, after: str) -> tuple[str, ...]:
    """Returns how a definition differs from an earlier one.

    Args:
        before, after: results of `definition_text`; empty for an unknown one.
    """
    return _bounded(_compared(_definition_lines(before), _definition_lines(after)))


def of_texts(before: str, after: str) -> tuple[str, ...]:
    """Returns how a text differs from an earlier one; empty for an unknown one."""
    return _bounded(_compared(before.splitlines(), after.splitlines()))


def _edits(arguments: JsonMapping, clean: Clean) -> Iterator[list[str]]:
    lists = [arguments[name] for name in LISTS_OF_EDITS if isinstance(arguments.get(name), list)]
    pairs = [pair for edit in (arguments, *(each for edits in lists for each in edits)) if (pair := _pair(edit))]
    for place, (before, after) in enumerate(pairs[:MOST_EDITS]):
        yield ([CUT] if place else []) + _compared(clean(before).splitlines(), clean(after).splitlines())
    if len(pairs) > MOST_EDITS:
        yield [CUT]
    if any(isinstance(arguments.get(name), str) for name in FILES):
        for text in _first(arguments, CONTENTS):
            yield ["+" + line for line in clean(text).splitlines()]
    for text in _first(arguments, PATCHES):
        yield [line if line[:1] in ("+", "-", " ") else " " + line for line in clean(text).splitlines()]


def _pair(edit: object) -> tuple[str, str] | None:
    if not isinstance(edit, Mapping):
        return None
    for old, new in BEFORE_AND_AFTER:
        before, after = edit.get(old), edit.get(new)
        if isinstance(before, str) and isinstance(after, str):
            return before, after
    return None


def _first(arguments: JsonMapping, names: tuple[str, ...]) -> list[str]:
    return [arguments[name] for name in names if isinstance(arguments.get(name), str)][:1]


def _definition_lines(text: str) -> list[str]:
    try:
        members = read_once_named(text.encode("utf-8", "surrogatepass"))
        return [line for key in COVERED if key in members for line in _member_lines(key, members[key])]
    except (ValueError, RecursionError):
        return text.splitlines()


def _member_lines(key: str, value: object) -> list[str]:
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    first, *others = written.splitlines() or [""]
    return [f"{key}: {first}", *(f"  {line}" for line in others)]


def _compared(before: list[str], after: list[str]) -> list[str]:
    """Returns the lines that differ, marked, and some around them; other lines are omitted."""
    is_cut = len(before) > MOST_LINES or len(after) > MOST_LINES
    lines = list(difflib.unified_diff(before[:MOST_LINES], after[:MOST_LINES], lineterm="", n=LINES_AROUND))[2:]
    shown = [CUT if line.startswith("@@") else line for line in lines if not _STARTS_AT_THE_TOP.match(line)]
    return shown + ([CUT] if is_cut else [])


def _bounded(lines: list[str]) -> tuple[str, ...]:
    shown = [line[:1] + _cut(visible(line[1:])) for line in lines[:MOST_LINES]]
    return tuple([*shown, CUT] if len(lines) > MOST_LINES else shown)


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
