"""Which files of a project stay out of a bundle: those that the reference leaves out, and what `.mcpbignore` says, as `.gitignore` would.

Above it: packing. Pure.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

ALWAYS = (
    *(".DS_Store", "Thumbs.db", ".gitignore", ".git", ".mcpbignore", "*.log", ".env*", ".npm", ".npmrc", ".yarnrc", ".yarn", ".eslintrc"),
    *(".editorconfig", ".prettierrc", ".prettierignore", ".eslintignore", ".nycrc", ".babelrc", ".pnp.*", "node_modules/.cache"),
    *("node_modules/.bin", "*.map", "package-lock.json", "yarn.lock", "*.mcpb", "*.dxt", "*.d.ts", "*.tsbuildinfo", "tsconfig.json"),
    # what the reference does not know: made anew on every computer, or another program's
    *("__pycache__", "*.pyc", ".venv", "venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".mcp.json", ".claude", ".vscode", ".idea"),
    *("*.pem", "*.key", "id_rsa*", "id_ed25519*", ".netrc", ".pypirc", ".aws", ".ssh", "manifest.json"),
)


class IgnoreRules:
    """
    Args:
        text: of a `.mcpbignore`.
    """

    def __init__(self, text: str = "") -> None:
        self._lines = [line.strip() for line in text.splitlines()]

    def excludes(self, name: str, *, is_folder: bool = False) -> bool:
        """Whether a file or folder stays out; of a folder that does, nothing else is asked.

        Args:
            name: from the project's folder, with slashes.
        """
        is_out = False
        for rule, is_for_folders, is_back in self._rules:
            if rule.fullmatch(name) and (is_folder or not is_for_folders):
                is_out = not is_back
        return is_out

    @cached_property
    def _rules(self) -> list[tuple[re.Pattern[str], bool, bool]]:
        return list(_read([*ALWAYS, *self._lines]))


def _read(lines: Iterable[str]) -> Iterator[tuple[re.Pattern[str], bool, bool]]:
    for line in lines:
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!")
        body = pattern.strip("/")
        if body:
            start = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
            yield re.compile(start + _expression(body), re.DOTALL), pattern.endswith("/"), line.startswith("!")


def _expression(pattern: str) -> str:
    """A pattern of git as a regular expression."""
    made, at = "", 0
    for found in re.finditer(r"\*\*/|/\*\*$|\*+|\?|\[(!?)([^]]+)\]|\\(.)", pattern):
        made += re.escape(pattern[at : found.start()])
        match found[0]:
            case "**/":
                made += "(?:.*/)?"
            case "/**":
                made += "/.*"
            case "?":
                made += "[^/]"
            case text if text.startswith("*"):
                made += "[^/]*"
            case text if text.startswith("["):
                made += f"[{'^' if found[1] else ''}{re.escape(found[2]).replace(chr(92) + '-', '-')}]"
            case _:
                made += re.escape(found[3])
        at = found.end()
    return made + re.escape(pattern[at:])
