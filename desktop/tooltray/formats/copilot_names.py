"""The names of tools in Copilot sessions: `mcp_<server>_<tool>`, in the characters and the length that every model takes.

Above it: copilot_tools, the REST interface. Pure. They are not the names that AI clients see: here the server always stands in front.
"""

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Tool = tuple[str, str]
"""A server's name and the server's own name for the tool."""

PREFIX = "mcp"
MAX_LENGTH = 64  # of OpenAI's and Anthropic's function names, whichever model a session uses
HASH_DIGITS = 8

_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_READABLE = re.compile(r"[A-Za-z0-9]", re.ASCII)


def copilot_names(tools: Iterable[Tool]) -> dict[Tool, str]:
    """A name for each tool; the outcome does not depend on their order.

    A name says server and tool as far as it can. Where two would be alike, where one is too long, and where none of its characters could
    be kept, a hash of both is at its end.
    """
    plain = {tool: _plain(tool) for tool in tools}
    wanted = Counter(plain.values())
    names = {tool: name for tool, name in plain.items() if wanted[name] == 1 and _is_enough(tool) and len(name) <= MAX_LENGTH}
    taken = set(names.values())
    for tool in sorted(plain.keys() - names.keys()):
        names[tool] = next(name for name in _hashed(tool, plain[tool]) if name not in taken)
        taken.add(names[tool])
    return names


def copilot_description(tool: Tool, definition: Mapping[str, Any]) -> str:
    """In the server's words; a session shows it to the model, which needs some."""
    annotations = definition.get("annotations")
    titles = (definition.get("title"), annotations.get("title") if isinstance(annotations, dict) else None)
    given = (text for text in (definition.get("description"), *titles) if isinstance(text, str) and text.strip())
    server, name = tool
    return next(given, f"The tool {name} of the MCP server {server}.")


def copilot_parameters(schema: Any) -> dict[str, Any]:
    """The server's schema, whole. Models' APIs want to be told of properties also where there are none."""
    return {"type": "object", "properties": {}} | (schema if isinstance(schema, dict) else {})


def _plain(tool: Tool) -> str:
    return "_".join((PREFIX, *(_OTHER_CHARACTERS.sub("_", part) for part in tool)))


def _is_enough(tool: Tool) -> bool:
    """Whether something of both parts is left in the plain name."""
    return all(_READABLE.search(part) for part in tool)


def _hashed(tool: Tool, plain: str) -> Iterator[str]:
    """Names that no other tool should want; one that does nevertheless gets the next."""
    for salt in itertools.count():
        digest = hashlib.sha256(json.dumps([*tool, salt]).encode()).hexdigest()[:HASH_DIGITS]
        yield f"{plain[: MAX_LENGTH - HASH_DIGITS - 1].rstrip('_-')}_{digest}"
