"""An entry of a server as it is given under its name: checked, with its faults in words."""

from collections.abc import Collection, Mapping

from pydantic import (
    ValidationError,
)

from tooltray.config.settings.call_rule import read_rules
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.config.settings.usable import (
    CORRECT_IT,
    MUST_BE_OBJECT,
    Path,
    correct_it,
    first_path,
    in_words,
    joined,
    of_field,
    of_member,
    printable,
    read_members,
)
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase

BUILTIN_NAMES = ("hub",)
"""Names of the servers that are part of Tooltray; no entry may have one."""
MAX_NAME_LENGTH = 64  # a name becomes a part of file names, keyring entries and tool names
FORBIDDEN_IN_NAMES = "/{}"  # `${secret:NAME/KEY}` has to find its parts again
NOTHING_BY_THEM = Phrase("these rules allow nothing")


def printable_name(name: str) -> str:
    return printable(name[:MAX_NAME_LENGTH])


class UnusableEntry(TooltrayError):
    """An entry of a server that cannot be used.

    Attributes:
        path: of what is wrong with it; empty: the whole.
    """

    def __init__(self, title: str, message: str, hint: str, *, path: Path) -> None:
        super().__init__(title, message, hint)
        self.path = path


def check_name(name: str, reserved: Collection[str]) -> None:
    """Checks whether a server may have this name.

    Raises:
        TooltrayError: it may not; explains why.
    """
    if name in reserved:
        reason: str = Phrase("this is the name of a server that comes with Tooltray")
    elif not 0 < len(name) <= MAX_NAME_LENGTH:
        reason = Phrase("a name has 1 to {most} characters, this one has {count}", most=MAX_NAME_LENGTH, count=len(name))
    elif not name.isprintable() or name != name.strip() or any(character in name for character in FORBIDDEN_IN_NAMES):
        reason = Phrase("a name has letters, digits, signs and inner spaces, but no '/', '{brace}' or '{closing}'", brace="{", closing="}")
    else:
        return
    raise TooltrayError(Phrase("'{name}' cannot be the name of a server", name=printable_name(name)), reason, Phrase("Choose another name"))


def read_entry(name: str, entry: object) -> MCPServerConfig:
    """Reads and checks one entry.

    Raises:
        UnusableEntry: explains which field and why, and quotes no value.
    """
    try:
        return MCPServerConfig.model_validate(entry)
    except ValidationError as error:
        title = Phrase("The entry of server '{server}' cannot be used", server=name)
        raise UnusableEntry(title, in_words(error), CORRECT_IT, path=first_path(error)) from None


def read_given_entry(name: str, entry: object) -> MCPServerConfig:
    """Reads one entry from anywhere but the settings' own file: a project's file, REST, an import, a link, a bundle, a proposal.

    Raises:
        UnusableEntry: explains why; also for a server in memory, which only the user adds.
    """
    config = read_entry(name, entry)
    check_runs_outside(name, config)
    return config


def check_runs_outside(name: str, config: MCPServerConfig) -> None:
    """Raises UnusableEntry if the server would run inside Tooltray."""
    if config.transport == "inmemory":
        title = Phrase("'{name}' cannot be added from here: it would run inside Tooltray and could read every secret", name=name)
        raise UnusableEntry(title, "", Phrase("Add it yourself, at a terminal: tooltray servers add NAME --inmemory ENTRY"), path=("type",))


def read_usable_entry(name: str, entry: object) -> tuple[MCPServerConfig, Mapping[str, Problem]]:
    """Reads one entry without its unusable overrides and rules on arguments, since these are no reason to lose a server.

    Returns:
        The entry, and its unused parts, by its members.

    Raises:
        UnusableEntry: the rest cannot be used, either.
    """
    if not isinstance(entry, Mapping):
        return read_entry(name, entry), {}
    usable, problems = dict(entry), dict[str, Problem]()
    if (overrides := entry.get("toolOverrides")) is not None:
        usable["toolOverrides"], odd = _usable_overrides(overrides)
        if odd:
            title = Phrase("The overrides of tools of server '{server}' are not fully used", server=name)
            problems["toolOverrides"] = Problem(title, joined(odd), CORRECT_IT)
    if (rules := entry.get("callRules")) is not None:
        usable["callRules"], odd = read_rules(rules)
        if odd:
            title = Phrase("The rules on arguments of server '{server}' are not fully used", server=name)
            problems["callRules"] = Problem(title, joined(odd), correct_it(NOTHING_BY_THEM))
    return read_entry(name, usable), problems


def _usable_overrides(given: object) -> tuple[Mapping[str, object], list[str]]:
    if not isinstance(given, Mapping):
        return {}, [of_field("toolOverrides", MUST_BE_OBJECT)]
    odd: list[str] = []
    read = read_members(ToolOverride, given, lambda _, why: odd.append(of_member("toolOverrides", why)))
    return {tool: given[tool] for tool in read}, odd
