"""Changes members of a JSON text and leaves every other byte as it is: comments, order, indentation, line ends.

Reads JSON with comments and trailing commas, as in the settings of editors.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

from tooltray.foundation.files.json_places import CannotRead, Token, Value, read, tokens_of
from tooltray.foundation.phrases import Phrase

USUAL_INDENTATION = "  "


def without_member(text: str, path: Sequence[str]) -> str:
    """Returns the text without one member, its comma, and its line if nothing else is on that line.

    Args:
        path: keys from the document to the member; the last is the member's own.

    Raises:
        CannotRead: the text is not JSON, or has no such member.
    """
    start, value = _member(_holder(text, path), path[-1])
    before, after = text[:start], text[value.end :]
    if (comma := _next_sign(text, value.end)) is not None and comma.text == ",":
        between = text[value.end : comma.start]
        after = (between if between.strip() else "") + text[comma.end :]
        if (line := re.search(r"\n[ \t]*\Z", before)) and (rest := re.match(r"[ \t]*\r?\n", after)):
            return before[: line.start() + 1] + after[rest.end() :]
        return before + after
    if (comma := _last_comma(text, start)) is not None:
        before = text[: comma.start] + text[comma.end : start]
    shortened = _without_space(before)
    if shortened.endswith("{") and after.lstrip().startswith("}"):
        return shortened + after.lstrip()  # an empty object is written in one line
    return (before.rstrip() if re.match(r"[ \t]*\r?\n", after) else shortened) + after


def with_member(text: str, path: Sequence[str], content: object) -> str:
    """Returns the text with one member set. A new member goes last; in an existing one only the parts that differ are rewritten.

    Args:
        path: keys from the document to the member; the last is the member's own. The object that holds it must exist.
        content: the member's new value, as JSON has it.

    Raises:
        CannotRead: the text is not JSON, has no such object, or the content has no JSON form.
    """
    holder = _holder(text, path)
    if path[-1] not in holder.members:
        return _with_new(text, holder, path[-1], content)
    at, value = holder.members[path[-1]]
    if _is_same(value.content, content):
        return text
    if isinstance(value.content, dict) and value.content and isinstance(content, Mapping) and content:
        return _with_members(text, path, value.content, content)
    is_in_one_line = "\n" not in text[value.start : value.end] and not isinstance(content, Mapping)
    written = _word(content) if is_in_one_line else _written(text, content, _indentation_at(text, at))
    return text[: value.start] + written + text[value.end :]


def _with_members(text: str, path: Sequence[str], before: Mapping[str, object], after: Mapping[str, object]) -> str:
    for key in after:
        text = with_member(text, (*path, key), after[key])
    for key in before:
        while key not in after and key in _holder(text, (*path, key)).members:  # again if the key occurs twice
            text = without_member(text, (*path, key))
    return text


def _is_same(one: object, other: object) -> bool:
    return json.dumps(one, sort_keys=True, default=str) == json.dumps(other, sort_keys=True, default=str)  # for Python, 1 == True


def _with_new(text: str, holder: Value, key: str, content: object) -> str:
    begin, end = holder.start + 1, holder.end - 1
    last = begin + len(text[begin:end].rstrip())  # behind the last member, or the comment that follows it
    before, after = text[:last], text[last:]
    if not holder.members:
        closing = "" if "\n" in text[last:end] else _line_end(text) + _indentation_at(text, holder.start)
        return before + _new_line(text, holder, key, content) + closing + after
    new = _new_line(text, holder, key, content) if "\n" in text[begin:end] else f" {_pair(key, _word(content))}"
    behind = max(value.end for _, value in holder.members.values())
    comma = _next_sign(text, behind)
    if comma is not None and comma.text == ",":
        return before + new + "," + after
    return text[:behind] + "," + text[behind:last] + new + after


def _new_line(text: str, holder: Value, key: str, content: object) -> str:
    indentation = _indentation_inside(text, holder)
    return _line_end(text) + indentation + _pair(key, _written(text, content, indentation))


def _pair(key: str, written: str) -> str:
    return f"{_word(key)}: {written}"


def _written(text: str, content: object, indentation: str) -> str:
    lines = _word(content, _unit(text)).split("\n")  # no text has a line end in it: there they are escaped
    return (_line_end(text) + indentation).join(lines)


def _word(content: object, unit: str | None = None) -> str:
    try:
        written = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=unit)
        written.encode()
    except UnicodeEncodeError:  # half of a pair, which has no other form
        return json.dumps(content, indent=unit)
    except (TypeError, ValueError, RecursionError):
        raise CannotRead(Phrase("the new content has no JSON form")) from None
    return written


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Returns one step of indentation: that of the first indented line."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else USUAL_INDENTATION


def _indentation_at(text: str, at: int) -> str:
    """Returns the indentation of the line that a character is on."""
    found = re.match(r"\ufeff?([ \t]*)", text[text.rfind("\n", 0, at) + 1 : at])
    return found[1] if found else ""


def _indentation_inside(text: str, holder: Value) -> str:
    """Returns the indentation of an object's members: that of the first member at the beginning of a line."""
    for at, _ in holder.members.values():
        if found := re.search(r"\n([ \t]*)\Z", text[:at]):
            return found[1]
    return _indentation_at(text, holder.start) + _unit(text)


def _next_sign(text: str, at: int) -> Token | None:
    return next((token for token in tokens_of(text, start=at) if token.kind == "sign"), None)


def _last_comma(text: str, at: int) -> Token | None:
    """Returns the comma between a member and the one before it; None if it is the first."""
    before = takewhile(lambda token: token.start < at, tokens_of(text))
    *_, last = (token for token in before if token.kind == "sign")
    return last if last.text == "," else None


def _without_space(text: str) -> str:
    """Strips space from the end, but keeps the line end that a `//` comment needs."""
    shortened = text.rstrip()
    comments = [token for token in tokens_of(text) if token.kind == "comment"]
    if comments and comments[-1].end >= len(shortened) and comments[-1].text.startswith("//"):
        return shortened + text[len(shortened) :]
    return shortened


def _holder(text: str, path: Sequence[str]) -> Value:
    holder = read(text)
    for key in path[:-1]:
        _, holder = _member(holder, key)
    if not isinstance(holder.content, dict):
        raise CannotRead(Phrase("{name} not found", name=path[-1]), holder.start)
    return holder


def _member(holder: Value, key: str) -> tuple[int, Value]:
    try:
        return holder.members[key]
    except KeyError:
        raise CannotRead(Phrase("{name} not found", name=key)) from None
