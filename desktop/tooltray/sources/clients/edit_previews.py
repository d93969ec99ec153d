"""The preview of an edit: a unified difference, short even for large files, and without secrets.

A file may contain keys that Tooltray does not know, also in comments; so each word is judged together with the word before it, which may be
its name.
"""

import difflib
import re
from collections.abc import Callable, Sequence

from tooltray.config.settings.secret_looks import looks_secret
from tooltray.foundation.snapshots.ai_clients import ClientEdit
from tooltray.sources.clients.change_writer import command_for
from tooltray.sources.clients.client_kinds import WorkTrees
from tooltray.sources.clients.client_look import ClientLook
from tooltray.sources.clients.file_edits import Action, FileEdit, chosen_kinds, planned, why_unable
from tooltray.sources.entries.pasted_parts import is_placeholder, parameters

HIDDEN = "…"
CONTEXT_LINES = 3
MAX_LINE = 400  # characters; a minified file is one line
AROUND = 120  # characters of such a line before and behind the difference
MAX_LINES = 2000  # lines of a difference; users read no more

_WORD = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|[^\s\"',\[\]{}:=][^\s\"',\[\]{}]*")
_NAMED = re.compile(r"(-{0,2}[\w.-]+)\s*[=:]\s*(.+)", re.DOTALL)
_BARE_LINE = re.compile(r"^([ +-]\s*(?:- )?\"?)([\w.-]+)(\"?\s*[:=]\s+)([^\s\"'\[{].*?)(\s*)$")
_USER = re.compile(r"(://)[^/@\s]+(@)")
_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def previews(action: Action, clients: Sequence[str], look: ClientLook, mask: Callable[[str], str]) -> list[ClientEdit]:
    """Returns the edits that connect or disconnect clients, and why clients in `clients` cannot be connected.

    Args:
        clients: ids; empty: all clients that are installed or have an entry.
        mask: takes known secrets out of a text.

    Raises:
        NotFound: the client does not exist.
    """
    kinds = chosen_kinds(action, clients, look)
    edits = [preview_of(edit, look, mask) for edit in planned(action, kinds, look)]
    if action == "connect":
        unable = ((kind, why_unable(kind, look)) for kind in kinds)
        edits += [ClientEdit(f"connect:{kind.id}:", kind.id, "connect", "", problem=problem) for kind, problem in unable if problem]
    return edits


def preview_of(edit: FileEdit, look: ClientLook, mask: Callable[[str], str]) -> ClientEdit:
    document = edit.document
    text, is_new = (document.text, not document.exists) if document else ("", False)
    return ClientEdit(
        edit.id,
        edit.kind.id,
        edit.action,
        str(edit.path),
        edit.revision,
        diff_of(text, edit.text, str(edit.path), is_new=is_new, mask=mask) if edit.is_change else "",
        command_for(edit, look),
        needs_own_yes=WorkTrees().holds(edit.path),
        is_foreign=edit.is_foreign,
        problem=edit.problem,
    )


def diff_of(before: str, after: str, path: str, *, is_new: bool, mask: Callable[[str], str]) -> str:
    """Returns the difference of two texts; empty if they are equal.

    Args:
        is_new: the file does not exist yet.
        mask: takes known secrets out of a text.
    """
    if before == after and not is_new:
        return ""
    old, new = before.removeprefix("\ufeff").splitlines(), after.removeprefix("\ufeff").splitlines()
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    begin = max(0, start - CONTEXT_LINES)
    ours, theirs = (lines[begin : len(lines) - max(0, end - CONTEXT_LINES)] for lines in (old, new))
    lines = difflib.unified_diff(ours, theirs, "/dev/null" if is_new else path, path, n=CONTEXT_LINES, lineterm="")
    shown = [_moved(line, begin) for line in lines][:MAX_LINES]
    masked = masked_diff(mask("\n".join(shown)))
    return "\n".join(_shortened(masked.split("\n")))


def masked_diff(text: str) -> str:
    """Returns a text without the words that may be secrets by their form or by the word before them."""
    lines = [_BARE_LINE.sub(_bare, line) for line in text.split("\n")]
    before = ""

    def hidden(found: re.Match[str]) -> str:
        nonlocal before
        word, name = found[0], before
        if word in "+-" and found.string[: found.start()][-1:] in ("", "\n"):
            return word  # the sign of a difference
        before = _bare_word(word)
        is_key = word[0] in "\"'" and found.string[found.end() :].lstrip(" ").startswith(":")
        return word if is_key else _masked_word(word, name)

    return _WORD.sub(hidden, "\n".join(lines))


def _moved(line: str, by: int) -> str:
    found = _HUNK.fullmatch(line)
    if not found:
        return line
    return f"@@ -{int(found[1]) + by}{found[2] or ''} +{int(found[3]) + by}{found[4] or ''} @@"


def _bare(found: re.Match[str]) -> str:
    beginning, name, sign, value, end = found.groups()
    return f"{beginning}{name}{sign}{HIDDEN if _is_secret(name, value) else value}{end}"


def _bare_word(word: str) -> str:
    """Returns a word as the name of the next one; empty for a word with its own value."""
    bare = word.strip("\"'").rstrip(":=")
    return "" if "=" in bare else bare


def _masked_word(word: str, name: str) -> str:
    quote = word[0] if word[0] in "\"'" else ""
    text = word[1:-1] if quote else word
    if _is_secret(name.lstrip("-"), text):
        return f"{quote}{HIDDEN}{quote}"
    if "://" in text:
        text = _USER.sub(rf"\1{HIDDEN}\2", text)
        for key, value in parameters(text):
            text = text.replace(f"={value}", f"={HIDDEN}") if value and _is_secret(key, value) else text
    elif (named := _NAMED.fullmatch(text)) and _is_secret(named[1].lstrip("-"), named[2]):
        text = text[: named.start(2)] + HIDDEN
    return f"{quote}{text}{quote}"


def _is_secret(name: str, value: str) -> bool:
    return bool(value) and value not in ("true", "false", "null", HIDDEN) and looks_secret(name, value) and not is_placeholder(value)


def _shortened(lines: Sequence[str]) -> list[str]:
    """Cuts lines that are too long to be read; in a pair of changed lines, the part around the difference stays."""
    long = [line for line in lines if len(line) > MAX_LINE and line[:1] in "+-"]
    if [line[0] for line in long] != ["-", "+"]:
        return [line if len(line) <= MAX_LINE else line[:MAX_LINE] + HIDDEN for line in lines]
    at = _common(long[0][1:], long[1][1:])
    back = _common(long[0][:0:-1], long[1][:0:-1])
    return [_part(line, at, back) if line in long else line[:MAX_LINE] for line in lines]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Returns how many lines, or characters of a text, are the same from the beginning."""
    return next((index for index, (ours, theirs) in enumerate(zip(one, other, strict=False)) if ours != theirs), min(len(one), len(other)))


def _part(line: str, at: int, back: int) -> str:
    sign, text = line[0], line[1:]
    start, end = max(0, at - AROUND), min(len(text), max(len(text) - back, at) + AROUND)
    return sign + (HIDDEN if start else "") + text[start:end] + (HIDDEN if end < len(text) else "")
