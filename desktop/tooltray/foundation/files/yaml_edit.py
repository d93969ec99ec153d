"""Changes members of a YAML text and leaves every other byte as it is: comments, order, indentation, line ends, quoting.

Where a list holds the member, its key is the `name` of an item. After each change the text is parsed, and only the requested member may
differ: a text that is written in an unforeseen way is refused and never damaged.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence

from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.member_change import MISSING, check_change, is_same, member_of
from tooltray.foundation.files.yaml_places import Place, read_yaml
from tooltray.foundation.phrases import Phrase

Keys = tuple[str, ...]
USUAL_INDENTATION = 2
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_TEXT = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}  # in one version of YAML or another


def with_member(text: str, path: Sequence[str], content: object) -> str:
    """Returns the text with one member set. Missing mappings are made; in an existing member only the parts that differ change.

    Args:
        path: keys from the document to the member; the last is the member's own.
        content: the member's new value; for a list that holds it, a mapping with its `name`.

    Raises:
        CannotRead: the text is not YAML, the member cannot be set there, or the content has no YAML form.
    """
    mark, bare = _split(text)
    before, _ = read_yaml(bare)
    after = _with(bare, tuple(path), content)
    check_change(before, read_yaml(after)[0], path, content)
    return mark + after


def without_member(text: str, path: Sequence[str]) -> str:
    """Returns the text without one member, and without the comments inside it.

    Args:
        path: keys from the document to the member; the last is the member's own.

    Raises:
        CannotRead: the text is not YAML, has no such member, or the edit would remove more than the member.
    """
    mark, bare = _split(text)
    before, _ = read_yaml(bare)
    after = _without(bare, tuple(path))
    check_change(before, read_yaml(after)[0], path)
    return mark + after


def _split(text: str) -> tuple[str, str]:
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _with(text: str, path: Keys, content: object) -> str:
    document, root = read_yaml(text)
    before = member_of(document, path)
    if before is MISSING:
        return _with_new(text, root, path, content)
    if isinstance(before, dict) and isinstance(content, Mapping):
        for key in content:
            if key not in before or not is_same(before[key], content[key]):
                text = _with(text, (*path, key), content[key])
        for key in before:
            text = text if key in content else _without(text, (*path, key))
        return text
    *_, place = _way(root, path)
    return _with_value(text, place, content)


def _with_value(text: str, place: Place, content: object) -> str:
    if place.kind == "empty" and isinstance(content, list | Mapping) and content:
        return _with_block_below(text, place, content)
    written = _flow(content)
    if place.kind in ("mapping", "sequence") and not place.is_flow:
        line = _end_of_line(text, place.colon)
        return text[: place.colon] + " " + written + text[place.colon : line] + text[place.end :]
    gap = "" if text[place.value - 1 : place.value] in (" ", "\t", "\n") else " "
    return text[: place.value] + gap + written + text[place.end :]


def _with_block_below(text: str, place: Place, content: object) -> str:
    """Gives a value to a key without one, on the lines that follow it."""
    column, unit = _column(text, place.start), _unit(text)
    lines = [" " * (column + unit) + line for line in _lines(content, unit)]
    return _with_lines(text, place.colon, lines)


def _with_new(text: str, root: Place | None, path: Keys, content: object) -> str:
    way = _way(root, path)
    rest = path[len(way) - 1 if way else 0 :]
    for key in reversed(rest[1:]):
        content = {key: content}
    if not way or way[0].kind == "empty":
        return _with_lines(text, len(text), _lines({rest[0]: content}, USUAL_INDENTATION))
    holder = way[-1]
    item = content if holder.kind == "sequence" else {rest[0]: content}
    if holder.kind == "empty":
        return _with_block_below(text, holder, item)
    if holder.kind not in ("mapping", "sequence"):
        raise CannotRead(Phrase("there is no {name}", name=rest[0]), holder.value)
    if holder.is_flow:
        return _with_flow_child(text, holder, _flow(item) if holder.kind == "sequence" else _flow(item)[1:-1])
    lines = _lines([item] if holder.kind == "sequence" else item, _unit(text))
    column = _column(text, holder.children[0].start)
    return _with_lines(text, holder.end, [" " * column + line for line in lines])


def _with_flow_child(text: str, holder: Place, written: str) -> str:
    at = holder.children[-1].end if holder.children else holder.value + 1
    return text[:at] + (", " if holder.children else "") + written + text[at:]


def _with_lines(text: str, at: int, lines: Sequence[str]) -> str:
    """Inserts lines after the line that an index is in; the text ends as it did, with or without a line end."""
    end, at = _line_end(text), _end_of_line(text, at)
    new = end.join(lines)
    if at < len(text):
        at += len(_line_end_at(text, at))
        return text[:at] + new + end + text[at:]
    is_new = not text or text.endswith("\n")
    return text + (new + end if is_new else end + new)


def _without(text: str, path: Keys) -> str:
    _, root = read_yaml(text)
    way = _way(root, path)
    if len(way) <= len(path):
        raise CannotRead(Phrase("there is no {name}", name=path[-1]))
    holder, place = way[-2:]
    if holder.is_flow:
        return _without_flow_child(text, holder, place)
    start = text.rfind("\n", 0, place.start) + 1
    if text[start : place.start].strip():
        raise CannotRead(Phrase("it shares its line with something else"), place.start)
    end = _end_of_line(text, place.end)
    behind = end + len(_line_end_at(text, end))
    before, after = text[:start], text[behind:]
    if not after and not text.endswith("\n"):
        before = before.removesuffix("\n").removesuffix("\r")
    if len(holder.children) == 1 and len(way) > 2:  # nothing would be left, and no value is not the same as none in it
        before = before[: holder.colon] + (" []" if holder.kind == "sequence" else " {}") + before[holder.colon :]
    return before + after


def _without_flow_child(text: str, holder: Place, place: Place) -> str:
    children = holder.children
    index = next(index for index, child in enumerate(children) if child is place)
    if index:
        return text[: children[index - 1].end] + text[place.end :]
    return text[: place.start] + text[children[1].start if len(children) > 1 else place.end :]


def _way(root: Place | None, path: Keys) -> list[Place]:
    """Returns the places from the document towards a member, as far as they exist."""
    way = [] if root is None else [root]
    for key in path if way else ():
        child = next((child for child in way[-1].children if child.key == key), None)
        if child is None:
            break
        way.append(child)
    return way


def _column(text: str, at: int) -> int:
    return at - text.rfind("\n", 0, at) - 1


def _end_of_line(text: str, at: int) -> int:
    found = text.find("\n", at)
    end = len(text) if found < 0 else found
    return end - 1 if end > at and text[end - 1] == "\r" else end


def _line_end_at(text: str, at: int) -> str:
    return "\r\n" if text.startswith("\r\n", at) else text[at : at + 1]


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> int:
    found = re.search(r"^( +)[^\s#]", text, re.MULTILINE)
    return len(found[1]) if found else USUAL_INDENTATION


def _lines(value: object, unit: int) -> list[str]:
    """Writes a mapping or a list in lines, and its small values between brackets."""
    lines: list[str] = []
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if _is_block(inner):
                lines += [f"{_flow(key)}:", *(" " * unit + line for line in _lines(inner, unit))]
            else:
                lines.append(f"{_flow(key)}: {_flow(inner)}")
        return lines
    for item in value if isinstance(value, list) else ():
        inner_lines = _lines(item, unit) if _is_block(item) else [_flow(item)]
        lines += [("  " if index else "- ") + line for index, line in enumerate(inner_lines)]
    return lines


def _is_block(value: object) -> bool:
    is_list_of_mappings = isinstance(value, list) and any(isinstance(item, Mapping) for item in value)
    return bool(value) and (isinstance(value, Mapping) or is_list_of_mappings)


def _flow(value: object) -> str:
    match value:
        case None | bool() | int():
            return json.dumps(value)
        case float() if math.isfinite(value):
            return json.dumps(value)
        case str() if not _LONE_SURROGATE.search(value):
            is_plain = _PLAIN.fullmatch(value) and value.lower() not in _NO_TEXT
            return value if is_plain else json.dumps(value, ensure_ascii=False)
        case list() | tuple():
            return f"[{', '.join(_flow(item) for item in value)}]"
        case Mapping():
            return f"{{{', '.join(f'{_flow(key)}: {_flow(item)}' for key, item in value.items())}}}"
    raise CannotRead(Phrase("the new content has no YAML form"))
