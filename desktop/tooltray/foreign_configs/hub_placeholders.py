"""mcp-hub's placeholders, put into ours: `${VAR}`, `${env:VAR}`, `${cmd: ...}`, `${input:id}`, `${workspaceFolder}`, one in another.

Above it: mcp_hub. Below it: page (for showing a name). Knows no environment: it is handed in. mcp-hub looks a name up in the entry's own
`env` (for all fields but `env` itself), in MCP_HUB_ENV, in the environment and among its own names, in this order. Here

- a variable of the environment becomes `${VAR}`, and is filled in when the server starts;
- what MCP_HUB_ENV and mcp-hub itself know becomes a variable of the entry, so that no value gets into what is shown;
- a command becomes one too, whose value it gives at each start;
- what stands inside of another placeholder has to be known at once, since it is a part of a name or of a command.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tooltray.foreign_configs.config_page import shown
from tooltray.phrases import Phrase
from tooltray.settings.expansion import VARIABLE_NAME, is_placeholder

MAX_DEPTH = 10  # mcp-hub's own limit for one in another
_SIGNS = re.compile(r"\$\{|\}")
_COMMAND = "cmd:"
_OPEN = "${"
_OPEN_NAME = "TOOLTRAY_OPEN_BRACE"  # for one that is never closed: there it is text, here it could find an end in what follows


class CannotFill(Exception):
    """A placeholder has no value, or means nothing; the text says which."""


@dataclass(frozen=True)
class Surroundings:
    """What mcp-hub knows when it reads a file.

    Attributes:
        own: its own names, such as `workspaceFolder`.
        environ: of the process.
        handed: what MCP_HUB_ENV holds.
    """

    own: Mapping[str, str]
    environ: Mapping[str, str] = field(repr=False)
    handed: Mapping[str, str] = field(repr=False)


class HubPlaceholders:
    """Translates the texts of one entry.

    Attributes:
        variables: what its placeholders find before the environment.
        commands: those whose value a shell command gives.
    """

    def __init__(self, known: Surroundings) -> None:
        self._known = known
        self._env: Mapping[str, str] = {}
        self._written: Mapping[str, str] = {}
        self.variables: dict[str, str] = {}
        self.commands: dict[str, str] = {}

    def know(self, env: Mapping[str, str], written: Mapping[str, str]) -> None:
        """What the entry's own variables are, since the other fields may name them.

        Args:
            env: as this has translated them.
            written: as they stand in the file.
        """
        self._env, self._written = env, written

    def ours(self, text: str) -> str:
        """
        Raises:
            CannotFill: a placeholder in it has no value, or means nothing.
        """
        if text.startswith("$:"):
            return self._command(self._at_once(text[2:], 1))
        return "".join(self._translated(text))

    def variable(self, name: str, called: str) -> str:
        """A placeholder of ours for the value that a name has there.

        Args:
            called: how an error may call it.

        Raises:
            CannotFill: it has none.
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
        """What is known at once. A person's answers have their names there with or without `input:`."""
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
        """A text that is a part of a name or a command, with its own placeholders filled in."""
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
    """What stands between the outermost placeholders, each with what is in the placeholder behind it; the last has none."""
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
    """A placeholder as an error may quote it: what was filled in may be a secret, so one with another in it stays unsaid."""
    return "${...}" if _OPEN in inner else f"${{{shown(inner)}}}"


def _no_value(called: str) -> CannotFill:
    return CannotFill(Phrase("{placeholder} has no value", placeholder=called))


def _alias(kind: str, content: str) -> str:
    return f"TOOLTRAY_{kind}_{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:12].upper()}"
