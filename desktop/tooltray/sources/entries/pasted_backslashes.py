"""Escapes Windows paths with single backslashes in JSON and TOML, as copied from a file manager: `"C:\\new"` would have a line break."""

import re

_TOKENS = re.compile(
    r"//[^\n]*|#[^\n]*|/\*.*?\*/|'[^'\n]*'"
    r'|"(?P<path>[^"\\\n]*(?:(?<=["=;,(][A-Za-z]:)|(?<=[\s\'][A-Z]:))\\(?![\\"/])[^"\n]*)"'
    r'|"(?P<text>(?:[^"\\\n]|\\.)*)"',
    re.DOTALL,
)
_NO_ESCAPE = re.compile(r'(?<!\\)(?:\\\\)*\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})')
_BACKSLASHES = re.compile(r"\\+")


def with_escaped_paths(text: str) -> str:
    """Returns JSON or TOML in which the backslashes of Windows paths are escaped.

    A string is taken for such a path if a drive with a single backslash is in it, or an escape that neither format has.
    """
    return _TOKENS.sub(_escaped, text) if "\\" in text else text


def _escaped(token: re.Match[str]) -> str:
    path, text = token["path"], token["text"]
    if path is not None:
        return f'"{_BACKSLASHES.sub(_doubled, path)}"'
    if text is not None and _NO_ESCAPE.search(text):
        return f'"{_BACKSLASHES.sub(_doubled, text)}"'
    return token[0]


def _doubled(found: re.Match[str]) -> str:
    """Doubles a single backslash, and both of a share's name (`\\\\server`); other pairs are escaped already."""
    if found.string[found.end() : found.end() + 1] == '"':
        return found[0]
    return found[0] * 2 if len(found[0]) == 1 or found.start() == 0 else found[0]
