"""Finds the position of each member in a YAML text: a tree of positions, and the parsed document.

The positions of ruamel.yaml cannot be used for cutting: it lets an empty value begin at the next word, a block end behind the comments that
follow it, and an alias begin where its anchor is. Here each position is where a reader of the text expects it. ruamel.yaml is imported at
the first use.
"""

import re
from typing import TYPE_CHECKING, Any

import msgspec

from tooltray.foundation.files.json_places import MAX_DEPTH, CannotRead
from tooltray.foundation.files.member_change import NAME
from tooltray.foundation.phrases import Phrase

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

MOST_NODES = 100_000  # with the values of aliases: a few lines of aliases can mean billions of values
MOST_OPEN_BRACKETS = 300  # the library's time grows with the square of them: for 5,000 it takes half a minute
_BRACKET = re.compile(r"[\[{\]}]")
_ALIAS = re.compile(r"[ \t]*(?:\*\S+)")
_DASH = re.compile(r"-[ \t\r\n]*\Z")


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
        raise CannotRead(Phrase("it is no YAML: {reason}", reason=error.problem or ""), _index(error)) from None
    except RecursionError:
        raise CannotRead(Phrase("it is nested too deeply")) from None
    except (YAMLError, ValueError) as error:
        if isinstance(error, CannotRead):
            raise
        raise CannotRead(Phrase("it is no YAML: {reason}", reason=type(error).__name__)) from None


def check_brackets(text: str) -> None:
    """Counts open brackets before the text is parsed; those in quoted texts and comments count, too.

    Raises:
        CannotRead: more are open at one point than any configuration has.
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
