"""Translates mcp-hub's placeholders into ours: `${VAR}`, `${env:VAR}`, `${cmd: ...}`, `${input:id}`, `${workspaceFolder}`, also nested.

Above it: mcp_hub. Below it: config_source (to display a name). Reads no environment: it is an argument. mcp-hub looks a name up in the
entry's own `env` (for all fields but `env` itself), in MCP_HUB_ENV, in the environment and among its own names, in this order. The
translation:

- A variable of the environment becomes `${VAR}`, expanded when the server starts.
- A value of MCP_HUB_ENV or of mcp-hub itself becomes a variable of the entry, so that no value is displayed.
- A command becomes a variable, too; the command is run at each start and gives its value.
- A placeholder inside another one is expanded at once, since it is a part of a name or of a command.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from tooltray.config.foreign_configs.config_source import shown
from tooltray.config.settings.expansion import VARIABLE_NAME, is_placeholder
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase

MAX_DEPTH = 10  # mcp-hub's own limit for nested placeholders
_SIGNS = re.compile(r"\$\{|\}")
_COMMAND = "cmd:"
_OPEN = "${"
_OPEN_NAME = "TOOLTRAY_OPEN_BRACE"  # for an unclosed `${`: mcp-hub takes it as text, but ours could find a `}` in the text that follows


class CannotFill(Exception):
    """A placeholder has no value or no meaning; the message names it."""


class Surroundings(HidesFields, frozen=True):
    """Where mcp-hub looks placeholders up when it reads a file.

    Attributes:
        own: its own names, such as `workspaceFolder`.
        environ: the environment of the process.
        handed: the members of the JSON object in MCP_HUB_ENV.
    """

    hidden: ClassVar = ("environ", "handed")

    own: Mapping[str, str]
    environ: Mapping[str, str]
    handed: Mapping[str, str]


class HubPlaceholders:
    """Translates the texts of one entry.

    Attributes:
        variables: values by name; they precede the environment when the entry's placeholders are expanded.
        commands: shell commands by the name of the variable whose value they print.
    """

    def __init__(self, known: Surroundings) -> None:
        self._known = known
        self._env: Mapping[str, str] = {}
        self._written: Mapping[str, str] = {}
        self.variables: dict[str, str] = {}
        self.commands: dict[str, str] = {}

    def know(self, env: Mapping[str, str], written: Mapping[str, str]) -> None:
        """Sets the entry's own `env`, because the other fields may refer to it.

        Args:
            env: translated by this object.
            written: as in the file.
        """
        self._env, self._written = env, written

    def ours(self, text: str) -> str:
        """A text with our placeholders in place of mcp-hub's.

        Raises:
            CannotFill: a placeholder in it has no value or no meaning.
        """
        if text.startswith("$:"):
            return self._command(self._at_once(text[2:], 1))
        return "".join(self._translated(text))

    def variable(self, name: str, called: str) -> str:
        """Our placeholder for the value that mcp-hub would find under a name.

        Args:
            called: the placeholder as an error may quote it.

        Raises:
            CannotFill: there is no such value.
        """
        if name in self._env:
            return self._env[name]
        value = self._value(name)
        if value is None or (name in self._known.environ and name not in self._known.handed and VARIABLE_NAME.fullmatch(name)):
            return self._of_environment(name, called)
        alias = name if VARIABLE_NAME.fullmatch(name) else _alias("VALUE", name)
        self.variables[alias] = value
        return f"${{{alias}}}"

    def _of_environment(self, name: str, called: str) -> str:
        if is_placeholder(name):
            return f"${{{name}}}"
        raise _no_value(called)

    def _value(self, name: str) -> str | None:
        """A value that is known without starting the server. Answers of the person are in MCP_HUB_ENV with or without `input:`."""
        known, plain = self._known, name.removeprefix("input:")
        for values, key in ((known.handed, name), (known.environ, name), (known.own, name), (known.handed if plain != name else {}, plain)):
            if key in values:
                return values[key]
        return None

    def _translated(self, text: str) -> Iterator[str]:
        for literal, inner in _parts(text):
            if _OPEN in literal:
                self.variables[_OPEN_NAME] = _OPEN
            yield literal.replace(_OPEN, f"${{{_OPEN_NAME}}}")
            if inner is not None:
                yield self._one(inner)

    def _one(self, inner: str) -> str:
        content = self._at_once(inner, 1)
        if content.startswith(_COMMAND):
            return self._command(content.removeprefix(_COMMAND))
        return self.variable(content.removeprefix("env:"), _called(inner))

    def _at_once(self, text: str, depth: int) -> str:
        """Expands the placeholders of a text that is a part of a name or of a command."""
        if depth > MAX_DEPTH:
            raise CannotFill(Phrase("its placeholders stand more than {number} deep in each other", number=MAX_DEPTH))
        found = []
        for literal, inner in _parts(text):
            found.append(literal)
            if inner is not None:
                found.append(self._value_at_once(inner, depth + 1))
        return "".join(found)

    def _value_at_once(self, inner: str, depth: int) -> str:
        content = self._at_once(inner, depth)
        if content.startswith(_COMMAND):
            return f"$({content.removeprefix(_COMMAND).strip()})"  # the shell that runs the outer command runs this one, too
        name = content.removeprefix("env:")
        if name in self._written:
            return HubPlaceholders(self._known)._at_once(self._written[name], depth)
        value = self._value(name)
        if value is None:
            raise _no_value(_called(inner))
        return value

    def _command(self, written: str) -> str:
        command = written.strip()
        if not command:
            raise CannotFill(Phrase("a placeholder for a command has none in it"))
        alias = _alias("COMMAND", command)
        self.commands[alias] = command
        return f"${{{alias}}}"


def _parts(text: str) -> Iterator[tuple[str, str | None]]:
    """Splits a text at its outermost placeholders: pairs of text and the content of the placeholder behind it, None for the last."""
    open_at: list[int] = []
    found: list[tuple[int, int]] = []
    for sign in _SIGNS.finditer(text):
        if sign[0] == _OPEN:
            open_at.append(sign.start())
        elif open_at:
            start = open_at.pop()
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, sign.end()))
    end = 0
    for start, behind in found:
        yield text[end:start], text[start + 2 : behind - 1]
        end = behind
    yield text[end:], None


def _called(inner: str) -> str:
    """A placeholder as an error may quote it; a nested one is not quoted, because the expanded value may be a secret."""
    return "${...}" if _OPEN in inner else f"${{{shown(inner)}}}"


def _no_value(called: str) -> CannotFill:
    return CannotFill(Phrase("{placeholder} has no value", placeholder=called))


def _alias(kind: str, content: str) -> str:
    return f"TOOLTRAY_{kind}_{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:12].upper()}"
