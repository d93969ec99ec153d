"""Names of tools in Copilot sessions: `mcp_<server>_<tool>`, in the characters and the length that every model accepts. Pure. These differ
from the names that AI clients see: they always begin with the server.
"""

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from tooltray.foundation.remote import JsonObject

Tool = tuple[str, str]
"""A server's name and the server's own name for the tool."""

PREFIX = "mcp"
MAX_LENGTH = 64  # of OpenAI's and Anthropic's function names, whichever model a session uses
HASH_DIGITS = 8

_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_READABLE = re.compile(r"[A-Za-z0-9]", re.ASCII)


def copilot_names(tools: Iterable[Tool]) -> dict[Tool, str]:
    """Returns a unique name for each tool; the result does not depend on the order of the tools.

    A name is made of server and tool. It ends with a hash of both if two names would be equal, if it is too long, or if one of its parts
    has no characters that can be kept.
    """
    plain = {tool: _plain(tool) for tool in tools}
    wanted = Counter(plain.values())
    names = {tool: name for tool, name in plain.items() if wanted[name] == 1 and _is_enough(tool) and len(name) <= MAX_LENGTH}
    taken = set(names.values())
    for tool in sorted(plain.keys() - names.keys()):
        names[tool] = next(name for name in _hashed(tool, plain[tool]) if name not in taken)
        taken.add(names[tool])
    return names


def copilot_description(tool: Tool, definition: Mapping[str, object]) -> str:
    """Returns the server's description, else its title, else a generated sentence: a session needs one to show to the model."""
    annotations = definition.get("annotations")
    titles = (definition.get("title"), annotations.get("title") if isinstance(annotations, dict) else None)
    given = (text for text in (definition.get("description"), *titles) if isinstance(text, str) and text.strip())
    server, name = tool
    return next(given, f"The tool {name} of the MCP server {server}.")


def copilot_parameters(schema: object) -> JsonObject:
    """Returns the server's whole schema. `properties` is added where it is missing: the APIs of models require it."""
    return {"type": "object", "properties": {}, **(schema if isinstance(schema, dict) else {})}


def _plain(tool: Tool) -> str:
    return "_".join((PREFIX, *(_OTHER_CHARACTERS.sub("_", part) for part in tool)))


def _is_enough(tool: Tool) -> bool:
    """Reports whether at least one character of both parts can be kept."""
    return all(_READABLE.search(part) for part in tool)


def _hashed(tool: Tool, plain: str) -> Iterator[str]:
    """Yields names with a hash, best first; the next one is for a collision."""
    for salt in itertools.count():  # pragma: no branch - never ends
        digest = hashlib.sha256(json.dumps([*tool, salt]).encode()).hexdigest()[:HASH_DIGITS]
        yield f"{plain[: MAX_LENGTH - HASH_DIGITS - 1].rstrip('_-')}_{digest}"
