"""The names of edits: what is done, the client and the file, such as `connect:cursor:/home/me/.cursor/mcp.json`.

Above it: the API, edit_plans, file_edits. Below it: nothing. Pure.
"""

from typing import Literal, TypeAlias, cast, get_args

Action: TypeAlias = Literal["connect", "disconnect", "mend", "remove"]


def name_of(action: Action, client: str, path: str) -> str:
    return f"{action}:{client}:{path}"


def parts_of(name: str) -> tuple[Action, str, str]:
    """Action, client and path of an edit's name; one that is none of ours is of no client."""
    action, _, rest = name.partition(":")
    client, _, path = rest.partition(":")
    return (cast(Action, action), client, path) if action in get_args(Action) else ("connect", "", name)


def is_taken_out(name: str) -> bool:
    """Whether an edit of this name only takes Tooltray out of a file."""
    return parts_of(name)[0] == "disconnect"
