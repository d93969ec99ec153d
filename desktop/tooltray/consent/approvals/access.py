"""What a server may do, as one of three choices: which settings make each, and when each can be had. Pure."""

from collections.abc import Collection
from typing import NamedTuple

from tooltray.catalogue.auto_approve import EXCEPTION, is_about_one
from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.widening import ALL, rules_widen
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confinement import Files, Net
from tooltray.foundation.snapshots.servers import AccessChoice, AccessSnapshot, RunsFreely
from tooltray.servers.confinement.confinements import OWN_FILES, Confinements

READ, WRITE = "read", "write"
READS_ASK = Phrase("Every call asks first, even one that only reads.")
ONLY_CHOSEN = Phrase("Only tools that you chose run without asking.")
OWN_RULES = Phrase("Its own rules decide what runs without asking.")
SOME_RUN = Phrase("Some tools that you chose run without asking, whatever they change.")
SOME_ASK = Phrase("Everything runs without asking, except for tools that you chose.")
IN_VAIN = Phrase("Its settings sandbox it, but this computer cannot do that.")
ALL_IN_SANDBOX = Phrase("Everything runs without asking, but in a sandbox.")
NETWORK_ONLY = Phrase("Its network is limited, its files are not.")


class AccessSettings(NamedTuple):
    """The members of an entry that a choice sets."""

    rules: tuple[str, ...]
    confinement: Confinement

    def with_choice(self, choice: AccessChoice) -> "AccessSettings":
        """Returns the settings that make a choice. Where changes ask, tools that ask by their names still do; named folders and hosts
        stay.
        """
        rules = (ALL,) if choice == "free" else (READ, *filter(_is_exception, self.rules))
        limits: dict[str, str] = {"files": "open", "network": "open"}
        if choice == "careful":
            limits = {"files": OWN_FILES} if self.confinement.files == "open" else {}
        return AccessSettings(rules, self.confinement.model_copy(update=limits))

    def with_settings(self, rules: Collection[str] | None, files: Files | None, network: Net | None) -> "AccessSettings":
        """Returns them with other rules or another sandbox; None leaves a member as it is."""
        limits = {name: value for name, value in (("files", files), ("network", network)) if value is not None}
        return AccessSettings(self.rules if rules is None else tuple(rules), self.confinement.model_copy(update=limits))

    def widens(self, before: "AccessSettings") -> bool:
        """Returns whether they let a server do more than the previous ones."""
        return rules_widen(before.rules, self.rules) or self.confinement.widens(before.confinement)


def access_of(config: MCPServerConfig, confinements: Confinements) -> AccessSnapshot:
    """Returns which choice the settings of a server make, and which ones it can have."""
    offered: tuple[AccessChoice, ...] = ("careful", "trusted", "free") if confinements.suits(config) else ("trusted", "free")
    runs = _runs_freely(config.auto_approve)
    differs = _why_rules_differ(runs, config.auto_approve)
    if not differs and config.transport == "stdio" and not config.confinement.is_open:
        differs = _why_sandbox_differs(runs, config.confinement, confinements)
    choice: AccessChoice | None = None
    if not differs:
        is_open = config.transport != "stdio" or config.confinement.is_open
        choice = "free" if runs == "all" else "trusted" if is_open else "careful"
    return AccessSnapshot(choice, offered, runs, has_call_rules=bool(config.call_rules), differs=differs)


def _is_exception(rule: str) -> bool:
    return rule.startswith(EXCEPTION)


def _runs_freely(rules: Collection[str]) -> RunsFreely:
    """Returns what runs without asking by rules for all tools, or by the tools' names if no other rule allows any."""
    general = {rule for rule in rules if not is_about_one(rule)}
    if ALL in general or {READ, WRITE} <= general:
        return "all"
    if general == {READ}:
        return "reads"
    return "some" if not all(map(_is_exception, rules)) else "nothing"


def _why_rules_differ(runs: RunsFreely, rules: Collection[str]) -> str:
    asking = any(map(_is_exception, rules))
    named = any(is_about_one(rule) and not _is_exception(rule) for rule in rules)
    match runs:
        case "all":
            return SOME_ASK if asking else ""
        case "reads":
            return SOME_RUN if named else ""
        case "some":
            return ONLY_CHOSEN if all(map(is_about_one, rules)) else OWN_RULES
    return READS_ASK


def _why_sandbox_differs(runs: RunsFreely, chosen: Confinement, confinements: Confinements) -> str:
    if not (confinements.applies(chosen) and (confinements.here.files or chosen.files == "open")):
        return IN_VAIN
    if runs == "all":
        return ALL_IN_SANDBOX
    return NETWORK_ONLY if chosen.files == "open" else ""
