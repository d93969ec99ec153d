"""Changes members of a YAML text and leaves every other byte as it is: comments, order, indentation, line ends, quoting.

Where a list holds the member, its key is the `name` of an item. After each change the text is parsed, and only the requested member may
differ: a text that is written in an unforeseen way is refused and never damaged.

The positions of ruamel.yaml cannot be used for cutting: it lets an empty value begin at the next word, a block end behind the comments that
follow it, and an alias begin where its anchor is. Here each position is where a reader of the text expects it. ruamel.yaml is imported at
the first use.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from tooltray.foundation.files.json_places import MAX_DEPTH, CannotRead
from tooltray.foundation.files.member_change import MISSING, NAME, check_change, is_same, member_of
from tooltray.foundation.phrases import Phrase

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

MOST_NODES = 100_000  # with the values of aliases: a few lines of aliases can mean billions of values
MOST_OPEN_BRACKETS = 300  # the library's time grows with the square of them: for 5,000 it takes half a minute
_BRACKET = re.compile(r"[\[{\]}]")
_ALIAS = re.compile(r"[ \t]*(?:\*\S+)")
_DASH = re.compile(r"-[ \t\r\n]*\Z")
Keys = tuple[str, ...]
USUAL_INDENTATION = 2
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_TEXT = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}  # in one version of YAML or another


class Place(msgspec.Struct):
    """A member of a mapping, an item of a list, or the document.

    Attributes:
        key: of a member; the `name` of an item; None: it has none.
        start: index where the key begins, or the dash of an item in a block, or an item between brackets.
        colon: index behind the colon of a member; of an item: `value`.
        value, end: indexes where the value begins, and behind its last character; the same for an empty value.
        kind: the type of the value.
        is_flow: a mapping or list in braces or brackets.
        children: its members or items.
    """

    key: str | None
    start: int
    colon: int
    value: int
    end: int
    kind: str
    is_flow: bool = False
    children: "list[Place]" = msgspec.field(default_factory=list)


def read_yaml(text: str) -> tuple[object, Place | None]:
    """Parses a text; returns the document and its position, which is None if the text has only comments.

    Args:
        text: without a byte order mark.

    Raises:
        CannotRead: it is not YAML, has several documents, or tags and aliases that no configuration needs.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    check_brackets(text)
    try:
        root = YAML(typ="safe", pure=True).compose(text)
        if root is None:
            return None, None
        _check_size(root)
        return YAML(typ="safe", pure=True).load(text), _Placing(text).place(root, None, 0)
    except DuplicateKeyError as error:  # its words quote a value
        raise CannotRead(Phrase("a key is given twice"), _index(error)) from None
    except MarkedYAMLError as error:
        raise CannotRead(Phrase("it is not YAML: {reason}", reason=error.problem or ""), _index(error)) from None
    except RecursionError:
        raise CannotRead(Phrase("it is nested too deeply")) from None
    except (YAMLError, ValueError) as error:
        if isinstance(error, CannotRead):
            raise
        raise CannotRead(Phrase("it is not YAML: {reason}", reason=type(error).__name__)) from None


def check_brackets(text: str) -> None:
    """Counts open brackets before the text is parsed; those in quoted texts and comments count, too.

    Raises:
        CannotRead: more brackets are open at one point than in any real configuration.
    """
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "[{" else max(depth - 1, 0)
        if depth > MOST_OPEN_BRACKETS:
            raise CannotRead(Phrase("it is nested too deeply"), bracket.start())


def _index(error: Any) -> int | None:
    mark = error.problem_mark or error.context_mark
    return None if mark is None else int(mark.index)


def _check_size(root: "Node") -> None:
    sizes: dict[int, int] = {}

    def size(node: Any, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise CannotRead(Phrase("it is nested too deeply"), node.start_mark.index)
        if id(node) not in sizes:
            children = node.value if isinstance(node.value, list) else ()
            parts = [each for child in children for each in (child if isinstance(child, tuple) else (child,))]
            sizes[id(node)] = 1 + sum(size(part, depth + 1) for part in parts)
        if sizes[id(node)] > MOST_NODES:
            raise CannotRead(Phrase("it has more than {number} values", number=MOST_NODES), node.start_mark.index)
        return sizes[id(node)]

    size(root, 0)


class _Placing:
    """A converter from the nodes of one text to places."""

    def __init__(self, text: str) -> None:
        self._text = text

    def place(self, node: Any, key: Any, low: int) -> Place:
        """Makes the place of a node.

        Args:
            key: the node of its key; None: it has none.
            low: index before which the node cannot begin.
        """
        colon = self._text.index(":", key.end_mark.index) + 1 if key is not None else low
        start = key.start_mark.index if key is not None else node.start_mark.index
        name = key.value if key is not None and isinstance(key.value, str) else None
        if node.start_mark.index < low:
            return self._alias(name, start if key is not None else low, colon)
        if node.start_mark.index == node.end_mark.index:
            return Place(name, start, colon, colon, colon, "empty")
        return self._value(node, name, start, colon if key is not None else start)

    def _alias(self, name: str | None, start: int, colon: int) -> Place:
        found = _ALIAS.match(self._text, colon)
        if found is None:
            raise CannotRead(Phrase("it uses an alias in a place where that cannot be edited"), colon)
        return Place(name, start, colon, colon, found.end(), "alias")

    def _value(self, node: Any, name: str | None, start: int, colon: int) -> Place:
        begin, end = node.start_mark.index, node.end_mark.index
        if not isinstance(node.value, list):
            end = begin + len(self._text[begin:end].rstrip())  # a text in several lines ends behind the empty lines that follow
            return Place(name, start, colon, begin, end, "text")
        is_flow = bool(node.flow_style)
        if node.id == "mapping":
            children = [self.place(value, key, key.end_mark.index) for key, value in node.value]
        else:
            children = self._items(node, is_flow=is_flow)
            begin = begin if is_flow or not children else children[0].start
        if not is_flow and children:
            end = children[-1].end
        return Place(name, start, colon, begin, end, node.id, is_flow, children)

    def _items(self, node: Any, *, is_flow: bool) -> list[Place]:
        items: list[Place] = []
        low = node.start_mark.index
        for child in node.value:
            item = self.place(child, None, low)
            if not is_flow:
                dash = _DASH.search(self._text, low, child.start_mark.index)
                if dash is None or item.kind in ("alias", "empty"):
                    raise CannotRead(Phrase("it has an item in a list that cannot be edited"), low)
                item.start = dash.start()
            item.key = next((_name(value) for key, value in child.value if key.value == NAME), None) if child.id == "mapping" else None
            items.append(item)
            low = item.end
        return items


def _name(node: Any) -> str | None:
    return node.value if isinstance(node.value, str) else None


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
        raise CannotRead(Phrase("{name} not found", name=rest[0]), holder.value)
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
        raise CannotRead(Phrase("{name} not found", name=path[-1]))
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
