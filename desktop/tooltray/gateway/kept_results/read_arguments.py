"""What a call of `read_result` asks for.

Above it: ResultReading. Below it: protocol. What is wrong is a TooltrayError in words for a model.
"""

import re

import msgspec
from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.member_scanner import opened

_LINES = re.compile(r"\s*(\d{1,15})\s*(-)?\s*(\d{1,15})?\s*")
NO_END = 10**15
_TAKES = "It takes handle and, if wanted, part, offset, regex, and one of lines, grep and path."


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A misspelt argument is an error: without it the model would read the beginning for ever.

    Attributes:
        part: from 1; None: the first one.
        offset: in bytes, of the part or of what a path leads to.
        lines, grep, path: at most one of them.
        regex: `grep` is a regular expression.
    """

    handle: str
    part: int | None = None
    offset: int = 0
    lines: str | None = None
    grep: str | None = None
    regex: bool = False
    path: str | None = None


def read_arguments(params: Raw) -> ReadArguments:
    """
    Args:
        params: of the call.

    Raises:
        TooltrayError: an argument is missing or of the wrong kind.
    """
    try:
        arguments = msgspec.json.decode(opened(params).get("arguments", NOTHING) or b"{}", type=ReadArguments)
    except (ValueError, RecursionError) as error:
        raise TooltrayError("read_result cannot use these arguments", str(error), _TAKES) from None
    if len([each for each in (arguments.lines, arguments.grep, arguments.path) if each is not None]) > 1:
        raise TooltrayError("read_result takes one of lines, grep and path at a time")
    if arguments.offset < 0:
        raise TooltrayError("the offset is 0 or more")
    return arguments


def line_range(lines: str) -> tuple[int, int]:
    """The first line and the last one, from 1: of "100-200", "100-" or "100".

    Raises:
        TooltrayError: it is no such range.
    """
    match = _LINES.fullmatch(lines)
    first = int(match[1]) if match else 0
    last = (int(match[3]) if match[3] else NO_END if match[2] else first) if match else 0
    if not 1 <= first <= last:
        raise TooltrayError(f"{lines[:40]!r} is no range of lines", hint='It looks like "100-200", and the first line is 1.')
    return first, last
