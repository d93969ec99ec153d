"""Replaces placeholders by values, each once: placeholders in a value are not replaced.

The values may be written by strangers, and values that refer to each other would double a text with each of them.
"""

import re
from collections.abc import Mapping
from typing import Any


def filled_in(part: Any, values: Mapping[str, str]) -> Any:
    """Returns a part of an entry with values in the place of placeholders.

    Args:
        values: by the whole placeholder, such as `${secret:NAME}`.
    """
    if not values:
        return part
    return _filled(part, re.compile("|".join(map(re.escape, values))), values)


def _filled(part: Any, placeholders: re.Pattern[str], values: Mapping[str, str]) -> Any:
    match part:
        case str():
            return placeholders.sub(lambda found: values[found[0]], part)
        case Mapping():
            return {key: _filled(each, placeholders, values) for key, each in part.items()}
        case list() | tuple():
            return [_filled(each, placeholders, values) for each in part]
    return part
