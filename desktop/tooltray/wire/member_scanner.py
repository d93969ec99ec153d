"""The members of a JSON object as bytes, for the rare frame that msgspec refuses although it is JSON.

Above it: envelope. Looks only at strings and brackets, so it takes any depth; that the text is JSON is the caller's to check.
"""

import json
import re

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


def members_of(text: bytes) -> dict[str, bytes]:
    """The values of the outermost object by name, verbatim; the last one wins where a name stands twice.

    Raises:
        ValueError: it is no object.
    """
    if not text.lstrip().startswith(b"{"):
        raise ValueError("no object")
    members: dict[str, bytes] = {}
    depth, name, value_at = 0, "", 0
    for token in _TOKEN.finditer(text):
        mark = token[0][:1]
        if mark == b'"':
            if depth == 1 and not value_at:
                name = json.loads(token[0])
        elif mark in b"{[":
            depth += 1
        elif mark == b":":
            if depth == 1:
                value_at = token.end()
        else:
            if depth == 1 and value_at:
                members[name] = text[value_at : token.start()].strip()
                value_at = 0
            depth -= mark in b"}]"
    return members
