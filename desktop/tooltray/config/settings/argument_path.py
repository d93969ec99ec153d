"""The place of a value in the arguments of a call, as a rule on arguments names it: `path`, `options.cwd`, `items[*].path`.

A member whose name contains a dot, a bracket or a quotation mark is written as JSON in brackets: `["a.b"].c`.
"""

import json
import re

LONGEST_PATH = 512  # characters
MOST_STEPS = 16  # users cannot read a form with more levels

Step = str | None
"""The name of a member; None: each element of a list."""
ArgumentPath = tuple[Step, ...]

_NAME = re.compile(r'[^.\[\]"\s]+')
_QUOTED = re.compile(r'\[("(?:[^"\\]|\\.)*")\]')
_EACH = "[*]"


def read_path(text: str) -> ArgumentPath:
    """Reads a path.

    Raises:
        ValueError: it is not a path.
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        step, at = _step(text, at, is_first=not steps)
        steps.append(step)
    if not steps or steps[0] is None or len(steps) > MOST_STEPS or len(text) > LONGEST_PATH:
        raise ValueError("no path of an argument")
    return tuple(steps)


def _step(text: str, at: int, *, is_first: bool) -> tuple[Step, int]:
    if text.startswith(_EACH, at):
        return None, at + len(_EACH)
    if quoted := _QUOTED.match(text, at):
        name = json.loads(quoted[1])  # a ValueError if an escape is invalid
        return str(name), quoted.end()
    if not is_first:
        if text[at] != ".":
            raise ValueError("a dot is missing")
        at += 1
    name = _NAME.match(text, at)
    if name is None:
        raise ValueError("a name is missing")
    return name[0], name.end()


def written(path: ArgumentPath) -> str:
    """Returns a path as `read_path` reads it."""
    text = ""
    for step in path:
        if step is None:
            text += _EACH
        elif _NAME.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step)}]"
    return text
