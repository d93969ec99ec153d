"""Rules on the arguments of calls, by which calls run without asking: the paths of arguments, their values, and the rule itself.

A path is written as `path`, `options.cwd` or `items[*].path`; a member whose name contains a dot, a bracket or a quotation mark is written
as JSON in brackets: `["a.b"].c`. A rule accepts only values that are known to be harmless, and no value that a shell, a URL parser or a
file system may read in two ways: a call with such a value asks. A rule has no unknown members: a misspelt one would be a condition that
does not count.
"""

import ipaddress
import json
import os
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Literal, NamedTuple

from tooltray.config.settings.json_kinds import Before, Sized, ValidationError
from tooltray.config.settings.json_model import JsonModel, in_words, without_null
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

LONGEST_PATH = 512  # characters
MOST_STEPS = 16  # users cannot read a form with more levels

Step = str | None
"""The name of a member; None: each element of a list."""
ArgumentPath = tuple[Step, ...]

_NAME = lazy_pattern(r'[^.\[\]"\s]+')
_QUOTED = lazy_pattern(r'\[("(?:[^"\\]|\\.)*")\]')
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


PROJECT = "{project}"
"""A folder in rules: the project of the session."""
LONGEST_HOST = 253  # characters, as DNS has it
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
"""The schemes of addresses, and the port of each that need not be named."""
USUAL_PORTS = frozenset(PORTS.values())

_PLAIN_WORD = lazy_pattern(r"(?:[A-Za-z0-9_./:@,+=-]|[^\x00-\x7f])+")
_HOST_NAME = lazy_pattern(
    r"(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*", re.ASCII
)
_HOST_AND_PORT = lazy_pattern(r"(\[[0-9A-Fa-f:]+\]|[^\s:/?#@\[\]]+)(?::([0-9]{1,5}))?", re.ASCII)
_ADDRESS = lazy_pattern(r"([A-Za-z]+)://([^\s/?#@\\]+)((?:/[A-Za-z0-9._~:/?#@!&*+,=%\[\]-]*)?)", re.ASCII)
_QUERY_ALONE = lazy_pattern(r"([A-Za-z]+)://([^\s/?#@\\]+)(\?[A-Za-z0-9._~:/?!&*+,=%\[\]-]*)", re.ASCII)


def is_plain_word(word: str) -> bool:
    """Returns whether a word of a command means itself in every shell: no quotation marks, variables, patterns, redirections, blanks."""
    return (
        bool(_PLAIN_WORD.fullmatch(word))
        and not word.startswith("=")
        and (word.isascii() or all(sign.isascii() or sign.isalnum() for sign in word))
    )


class Host(NamedTuple):
    """A host and its port; 0: the ports that addresses need not name."""

    name: str
    port: int = 0


def read_host(text: str) -> Host | None:
    """Reads a host as users write it, `example.org` or `example.org:8443`; None if it is not a host, or could be read in two ways.

    Names are DNS names in plain letters; an IP address counts only in its one usual spelling.
    """
    if not (found := _HOST_AND_PORT.fullmatch(text)) or len(found[1]) > LONGEST_HOST:
        return None
    port = int(found[2] or 0)
    if found[2] is not None and not 0 < port <= 65535:
        return None
    name = found[1].lower()
    if not (_HOST_NAME.fullmatch(name) and not _looks_like_number(name)) and not _is_usual_ip(name):
        return None
    return Host(name, 0 if port in USUAL_PORTS else port)


def _looks_like_number(name: str) -> bool:
    """Returns whether the last part of a name is a number: `0x7f.1` and `127.1` are addresses to many programs."""
    last = name.rpartition(".")[2]
    return last.isdigit() or bool(re.fullmatch(r"0x[0-9a-f]*", last))


def _is_usual_ip(name: str) -> bool:
    try:
        if name.startswith("["):
            return str(ipaddress.IPv6Address(name[1:-1])) == name[1:-1]
        return str(ipaddress.IPv4Address(name)) == name
    except ValueError:
        return False


def is_below(host: str, pattern: str) -> bool:
    """Returns whether a rule's pattern covers a host: the same host, or one below `*.example.org`."""
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def read_pattern(text: str) -> Host | None:
    """Reads a host of a rule: as `read_host`, or `*.` and a name of at least two parts; None if it is neither."""
    if not text.startswith("*."):
        return read_host(text)
    below = read_host(text[2:])
    is_name = below is not None and "." in below.name and not _is_usual_ip(below.name)
    return Host(f"*.{below.name}", below.port) if below and is_name else None


def host_of(value: str) -> Host | None:
    """Returns the host of an address, or of a text that is itself a host; None if it has no host, or parsers could disagree about it."""
    found = _ADDRESS.fullmatch(value) or _QUERY_ALONE.fullmatch(value)
    if found is None:
        return read_host(value)
    usual = PORTS.get(found[1].lower())
    host = read_host(found[2])
    return host if usual and host else None


def is_folder(text: str) -> bool:
    """Returns whether a rule can name this as a folder: a whole path, one from the home folder, or `{project}` and folders below it."""
    if text == PROJECT or text.startswith(f"{PROJECT}/"):
        return "\0" not in text and ".." not in re.split(r"[/\\]", text)
    is_whole = os.path.isabs(text) or text == "~" or text.startswith(("~/", "~\\"))
    return is_whole and "\0" not in text and ".." not in re.split(r"[/\\]", text)


MOST_RULES = 200  # of one server or AI client; each is checked with each call of its tool
MOST_LISTED = 100  # folders, hosts, words or values of one condition
MOST_CONDITIONS = 50
LONGEST_VALUE = 4096  # characters of a text to compare, or of a word

ASKED, ANY = "asked", "any"
NONE, WORDS = "none", "words"
KINDS = ("inside", "hosts", "command", "number", "equals", "one_of")


def _plain(value: object) -> object:
    """Returns numbers as Python's own; the settings keep them as they are written."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and abs(value) < 2**63 else float(value)
    return [_plain(each) for each in value] if isinstance(value, list) else value


Text = Annotated[str, Sized(most=LONGEST_VALUE)]
Number = Annotated[int | float, Before(_plain)]
Value = Annotated[Text | bool | int | float, Before(_plain)]
Listed = Sized(least=1, most=MOST_LISTED)


class RulePart(JsonModel):
    keeps_unknown = False


class NumberBounds(RulePart):
    """The bounds of a number; a missing one means no bound on that side.

    Attributes:
        min: the smallest.
        max: the largest.
    """

    min: Number | None = None
    max: Number | None = None

    def _check(self) -> None:
        if self.min is None and self.max is None:
            raise ValueError(Phrase("must have min or max"))
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(Phrase("min is more than max: no number is in it"))


class Condition(RulePart):
    """What one argument must be; one of `inside`, `hosts`, `command`, `number`, `equals` and `oneOf`.

    Attributes:
        inside: a path in one of these folders, or one of them itself: whole paths, `~/...`, or `{project}`.
        hosts: a URL or a host name: `example.org`, `*.example.org` for all below it, `example.org:8443` for an unusual port.
        command: the first words of a command: of an argument list, or of a text without any sign that a shell reads.
        more: of a command, what may follow these words: "none", "words" (but no options), or "any".
        args: of a command, the path of a second argument with the words behind the first one.
        number: a number within bounds.
        equals: exactly this text, number or boolean.
        one_of: one of these.
        optional: a call without this argument is covered, too.
    """

    inside: Annotated[tuple[Text, ...], Listed] | None = None
    hosts: Annotated[tuple[Text, ...], Listed] | None = None
    command: Annotated[tuple[Text, ...], Listed] | None = None
    more: Literal["none", "words", "any"] | None = None
    args: Text | None = None
    number: NumberBounds | None = None
    equals: Value | None = None
    one_of: Annotated[tuple[Value, ...], Listed] | None = None
    optional: bool = False

    @cached_property
    def kind(self) -> str:
        """Returns which of KINDS it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    def _check(self) -> None:
        if sum(getattr(self, kind) is not None for kind in KINDS) != 1:
            raise ValueError(Phrase("must have exactly one of inside, hosts, command, number, equals and oneOf"))
        if self.command is None and (self.more or self.args):
            raise ValueError(Phrase("more and args belong to a command"))
        for folder in self.inside or ():
            if not is_folder(folder):
                raise ValueError(Phrase("inside: must be whole paths of folders, ~/ or {project}", project="{project}"))
        for host in self.hosts or ():
            if not read_pattern(host):
                raise ValueError(Phrase("hosts: must be names of hosts, as example.org or *.example.org"))
        if self.command and (not all(map(is_plain_word, self.command)) or "=" in self.command[0] or self.command[0].startswith("-")):
            raise ValueError(Phrase("command: must be a list of plain words, without spaces or shell characters"))
        if self.args is not None:
            _path(self.args)


def _path(text: str) -> ArgumentPath:
    try:
        return read_path(text)
    except ValueError:
        raise ValueError(Phrase("must be named as path, options.cwd or items[*].path")) from None


class CallRule(RulePart):
    """Calls of a tool that run without asking.

    Attributes:
        tool: the server's own name, or `names:PATTERN`; `tool:NAME` for one that begins with a word like these.
        arguments: what must be true of arguments, by their paths.
        others: arguments without a condition: "asked": a call that has one asks; "any": they may be anything; or the
            paths of those that may.
        server: of an AI client's rule: only for this server; empty: for all.
    """

    tool: Annotated[Text, Sized(least=1)]
    arguments: Annotated[Mapping[str, Condition], Sized(most=MOST_CONDITIONS), Before(without_null)] = {}
    others: Literal["asked", "any"] | Annotated[tuple[Text, ...], Sized(most=MOST_LISTED)] = "asked"
    server: Text = ""

    def _check(self) -> None:
        paths = [path for path, _ in self.places] + self.other_paths
        if any(each.args is not None and None in (*_path(text), *_path(each.args)) for text, each in self.arguments.items()):
            raise ValueError(Phrase("a command with args cannot be in a list"))
        for place, path in enumerate(paths):
            if any(len(path) <= len(other) and other[: len(path)] == path for other in paths[:place] + paths[place + 1 :]):
                raise ValueError(Phrase("two paths name the same argument"))

    @cached_property
    def places(self) -> list[tuple[ArgumentPath, Condition | None]]:
        """Returns the conditions by their paths; None for a place that belongs to the command of another one."""
        found: list[tuple[ArgumentPath, Condition | None]] = [(_path(text), each) for text, each in self.arguments.items()]
        return found + [(_path(each.args), None) for each in self.arguments.values() if each.args is not None]

    @cached_property
    def other_paths(self) -> list[ArgumentPath]:
        """Returns the arguments that may be anything, if they are named."""
        return [_path(text) for text in self.others] if isinstance(self.others, tuple) else []

    @cached_property
    def text(self) -> str:
        """Returns a text that is equal for two rules exactly if their content is."""
        return json.dumps(self.members(), sort_keys=True, ensure_ascii=False)

    def members(self) -> dict[str, object]:
        """Returns the rule as a file holds it."""
        return self.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)


CallRules = Annotated[tuple[CallRule, ...], Sized(most=MOST_RULES)]


def _names_alone(given: object) -> object:
    if isinstance(given, list | tuple) and any(isinstance(each, Mapping) for each in given):
        raise ValueError(Phrase("rules on arguments do not belong here; write them as callRules"))
    return given


AutoApprove = Annotated[tuple[str, ...], Before(_names_alone)]
"""Rules without arguments, and names of tools."""


def read_rule(given: object) -> CallRule:
    """Reads one rule.

    Raises:
        TooltrayError: it cannot be used; explains why, and quotes no value.
    """
    try:
        return CallRule.model_validate(given)
    except ValidationError as error:
        raise TooltrayError(Phrase("This rule cannot be used"), in_words(error), Phrase("See `tooltray grants rule --help`")) from None
