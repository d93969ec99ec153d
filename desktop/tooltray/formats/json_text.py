"""A value as JSON within a text, for a model to read.

Above it: contents, schemas and gemini_words.
"""

import json
from typing import Any

TOO_DEEP = "(nested too deeply to be told)"


def as_json(value: Any, *, longest: int | None = None) -> str:
    """
    Args:
        longest: so many characters are told at most.
    """
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return TOO_DEEP
    return text if longest is None or len(text) <= longest else f"{text[:longest]}..."
