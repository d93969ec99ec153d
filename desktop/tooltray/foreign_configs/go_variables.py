"""Expands `$VAR` and `${VAR}` as Go programs do (`os.ExpandEnv`), for their configs.

Above it: tbxark. Below it: expansion. Reads no environment: it is an argument. Go's rules that differ from a shell's:

- A variable that is not set is empty.
- `$` and one of `*#$@!?-0123456789` is a variable of that name, which is never set; so it disappears, and `$$` with it.
- `${}` and an unclosed `${` disappear. A `$` before anything else is text.

Our own placeholders stay as they are: `${secret:NAME}` and `${VAR:-default}`; in Go they would be empty.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tooltray.settings.expansion import VARIABLE_NAME, is_placeholder

_SIMPLE = r"([A-Za-z_][A-Za-z0-9_]*)|[*#$@!?\-0-9]"
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|" + _SIMPLE + ")")
_NEVER_CLOSED = re.compile(r"\$(?:\{()|" + _SIMPLE + ")")
_TEXT_OR_VARIABLE = re.compile(r'"(?:[^"\\\n]|\\.)*"?|(\$\{[A-Za-z_]\w*\}|\$[A-Za-z_]\w*)', re.ASCII | re.DOTALL)


def in_our_spelling(value: Any) -> Any:
    """Replaces Go's variables in a JSON value by our placeholders, which are expanded when a server starts; keys stay."""
    match value:
        case str():
            return _replaced(value, _ours)
        case list():
            return [in_our_spelling(member) for member in value]
        case dict():
            return {key: in_our_spelling(member) for key, member in value.items()}
    return value


def filled_in(text: str, environ: Mapping[str, str]) -> str:
    """Expands the variables of a text now."""
    return _replaced(text, lambda found: environ.get(found[1] or found[2] or "", ""))


def filled_in_outside_texts(text: str, environ: Mapping[str, str]) -> str:
    """Expands variables outside of JSON strings, where they stand for numbers and the like: only then can the text be parsed."""
    return _TEXT_OR_VARIABLE.sub(lambda found: filled_in(found[1], environ) if found[1] else found[0], text)


def _replaced(text: str, replace: Callable[[re.Match[str]], str]) -> str:
    """In two parts: searching for a closing brace behind the last one would take quadratic time."""
    end = text.rfind("}") + 1
    return _VARIABLE.sub(replace, text[:end]) + _NEVER_CLOSED.sub(replace, text[end:])


def _ours(found: re.Match[str]) -> str:
    name = found[1] or found[2] or ""
    if VARIABLE_NAME.fullmatch(name):
        return f"${{{name}:-}}"
    return found[0] if is_placeholder(name) else ""
