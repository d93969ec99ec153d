"""Compares entries of servers: two are the same with the same program and words, or the same address, however each client writes it.

Names of servers and of secrets do not count. Values of placeholders do, as far as they are known: two keys are two accounts.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import MCPServerConfig, what_runs
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.servers.launch.command_lookup import is_launcher

LookUp = Callable[[str], str | None]
"""Returns the value of a placeholder, by what is between `${` and `}`; None: unknown."""
_PLACEHOLDER = re.compile(r'\$\{([^}"]*)\}')  # in JSON
_SHELLS = ("cmd", "cmd.exe")


class Program(HidesFields, frozen=True):
    """What an entry runs.

    Attributes:
        text: with `*` in the place of each placeholder.
        values: of the placeholders, in their order; None: unknown.
    """

    hidden: ClassVar = ("text", "values")

    text: str
    values: tuple[str | None, ...]

    def is_same(self, other: "Program") -> bool:
        pairs = zip(self.values, other.values, strict=False)
        return self.text == other.text and all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


def program_of(entry: Mapping[str, object], look_up: LookUp) -> Program:
    """
    Args:
        entry: one that can be used, in the spelling of `mcpServers`.
    """
    text = what_runs(_usual(read_entry("server", entry)))
    values = tuple(look_up(json.loads(f'"{inner}"')) for inner in _PLACEHOLDER.findall(text))
    return Program(_PLACEHOLDER.sub("*", text), values)


def looked_up(inner: str, secrets: Mapping[str, str], environ: Mapping[str, str]) -> str | None:
    """Returns the value of a placeholder of ours.

    Args:
        secrets: values by name, as far as they are known.
    """
    if inner.startswith("secret:"):
        return secrets.get(inner.removeprefix("secret:"))
    name, has_default, default = inner.partition(":-")
    return environ.get(name) or (default if has_default else None)


def _usual(config: MCPServerConfig) -> MCPServerConfig:
    """Returns the config in the words that most clients have for it."""
    words = [config.command or "", *config.args]
    if words[0].lower() in _SHELLS and len(words) > 2 and words[1].lower() == "/c":
        words = words[2:]
    program = re.sub(r"\.(?:exe|cmd)$", "", re.split(r"[/\\]", words[0])[-1])
    if is_launcher(program):
        words = [program, *("-y" if word == "--yes" else word for word in words[1:])]
    url = config.base_url.rstrip("/") if config.base_url else None
    return config.model_copy(update={"command": words[0] or None, "args": tuple(words[1:]), "base_url": url})
