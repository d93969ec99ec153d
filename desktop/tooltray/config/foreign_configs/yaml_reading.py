"""Reads YAML as plain values with positions, so that aliases cannot make it endless and no tag makes an object.

A file of its own, so that ruamel.yaml is imported only for YAML.
"""

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tooltray.config.foreign_configs.document_lines import MAX_DEPTH, Place, Positions
from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.yaml_edit import check_brackets
from tooltray.foundation.phrases import Phrase

MAX_VALUES = 100_000  # with each alias counted as all of its values
_TAG = "tag:yaml.org,2002:"


def read_yaml(text: str) -> tuple[object, Positions]:
    """Returns the content and where its keys are; the last one counts if a key occurs twice.

    Raises:
        CannotRead: it is malformed, its brackets are nested too deeply, or its aliases have too many values.
        RecursionError: it is nested too deeply.
    """
    check_brackets(text)
    try:
        root: Node | None = YAML(typ="safe", pure=True).compose(text)
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        raise CannotRead(Phrase("this is not YAML"), mark.index if mark else None) from None
    positions = Positions({(): 0})
    if root is None:
        return None, positions
    _check_size(root)
    content = _value(root)
    _add(positions, (), root)
    return content, positions


def _check_size(root: Node) -> None:
    """Raises CannotRead if it has too many values with all aliases written out, or contains itself."""
    sizes: dict[int, int | None] = {}  # None: it is being counted

    def size(node: Node) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = None
            sizes[id(node)] = 1 + sum(map(size, _inner(node)))
        counted = sizes[id(node)]
        if counted is None or counted > MAX_VALUES:
            raise CannotRead(Phrase("it has more than {number} values", number=MAX_VALUES), node.start_mark.index)
        return counted

    size(root)


def _inner(node: Node) -> list[Node]:
    if isinstance(node, MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


def _value(node: Node) -> Any:
    if isinstance(node, MappingNode):
        return {_key(key): _value(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [_value(item) for item in node.value]
    return _scalar(node)


def _key(node: Node) -> str:
    return str(node.value) if isinstance(node, ScalarNode) else ""


def _scalar(node: Node) -> object:
    text, kind = str(node.value), str(node.tag).removeprefix(_TAG)
    try:
        match kind:
            case "null":
                return None
            case "bool":
                return text.lower() in ("true", "yes", "on", "y")
            case "int":
                return int(text.replace("_", ""), 0)
            case "float":
                return float(text.replace("_", ""))
    except ValueError:  # an octal number of the old kind, or .inf
        pass
    return text


def _add(positions: Positions, place: Place, node: Node) -> None:
    if len(place) == MAX_DEPTH:
        return
    if isinstance(node, MappingNode):
        for key, value in node.value:
            positions.add((*place, _key(key)), key.start_mark.index)
            _add(positions, (*place, _key(key)), value)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            positions.add((*place, index), item.start_mark.index)
            _add(positions, (*place, index), item)
