"""Decides which changes of rules, of a server's entry, of profiles and of the settings widen permissions. Pure functions.

A change is harmless only if it is known to be narrower or irrelevant to safety: a change of a field that a later version adds needs
approval until the field is added here.
"""

from collections.abc import Callable, Collection, Mapping

from tooltray.config.settings.call_rule import CallRule
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.json_kinds import ValidationError
from tooltray.config.settings.server_config import MCPServerConfig, ToolFilter
from tooltray.config.settings.settings import ClientSettings, ProfileSettings, Settings
from tooltray.config.settings.tool_override import ToolOverride

ALL, EXCEPTION = "all", "ask:"  # as catalogue/auto_approve.py has them
HARMLESS_FIELDS = frozenset(
    (
        *("icons", "descriptions", "call_timeout", "start_timeout", "era", "idle_stop", "lazy_load", "options"),
        *("label", "color", "result_limit", "csv_tables"),
    )
)
"""Of an entry: the look of its card, when its tools are shown or it sleeps, its greeting, how much of a result is shown, and in
which form."""
HARMLESS_SETTINGS = frozenset({"readyAnswers", "hotReload", "mcpEnabled", "pausedUntil", "language", "window", "notifications", "results"})
HARMLESS_PUBLISHING = frozenset({"naming", "mode", "lazyLoad", "feedback"})
"""Of `publish`: how tools are shown."""
NEW_SERVERS = ("careful", None, "trusted", "free")
"""From the narrowest to the widest; without a choice only servers of the registry, of bundles and of links are careful."""


_WORDS = ("name", "description", "title", "annotations", "icons")


def rules_widen(before: Collection[str], after: Collection[str]) -> bool:
    """Returns whether rules of `autoApprove` let calls run without asking that asked before."""
    asks_before, asks_after = _exceptions(before), _exceptions(after)
    return not (asks_before <= asks_after and (ALL in before or set(after) - asks_after <= set(before)))


def call_rules_widen(before: Collection[CallRule], after: Collection[CallRule]) -> bool:
    """Returns whether rules on arguments let calls run without asking that asked before; any different rule may be wider."""
    return not {rule.text for rule in after} <= {rule.text for rule in before}


def _exceptions(rules: Collection[str]) -> set[str]:
    """Returns the rules that name tools which ask."""
    return {rule for rule in rules if rule.startswith(EXCEPTION)}


def entry_widens(name: str, before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    """Returns whether a server's entry runs another program than before, or the same one with more rights or more tools.

    Raises:
        TooltrayError: one of them cannot be used.
    """
    was, now = read_entry(name, before), read_entry(name, after)
    changed = {field for field in MCPServerConfig.model_fields if getattr(was, field) != getattr(now, field)}
    if was.model_extra != now.model_extra:
        return True
    return any(_field_widens(field, was, now) for field in changed - HARMLESS_FIELDS)


def calls_widen(was: MCPServerConfig, now: MCPServerConfig) -> bool:
    """Returns whether calls run without asking by a server's new entry that asked by the one before."""
    is_laxer = any(override_widens(each, now.tool_overrides.get(tool)) for tool, each in was.tool_overrides.items())
    is_guarded_less = any(each.flow and tool not in was.tool_overrides for tool, each in now.tool_overrides.items())
    return is_laxer or is_guarded_less or any(_WIDENS[field](was, now) for field in ("auto_approve", "call_rules"))


def override_widens(was: ToolOverride, now: ToolOverride | None) -> bool:
    """Returns whether a tool asks less often by another override: its hints make it stricter, and its effects count for the flow guard."""
    after = now or ToolOverride()
    return was.flow != after.flow or (was.annotations is not None and was.annotations != after.annotations)


def words_mislead(was: ToolOverride | None, now: ToolOverride) -> bool:
    """Returns whether a tool gets other words, hints or icons, by which a model may mistake it; a return to its own does not mislead."""
    before = was or ToolOverride()
    return any(getattr(now, word) not in (None, getattr(before, word)) for word in _WORDS)


def _field_widens(field: str, was: MCPServerConfig, now: MCPServerConfig) -> bool:
    widens = _WIDENS.get(field)
    return widens is None or widens(was, now)


def _words_of(override: ToolOverride | None) -> ToolOverride:
    """Returns an override without the limit and the form of results."""
    return (override or ToolOverride()).model_copy(update={"result_limit": None, "csv_tables": None})


def _filter_widens(was: ToolFilter | None, now: ToolFilter | None) -> bool:
    if was is None:
        return False
    if now is None or was.mode != now.mode:
        return True
    more, less = (now, was) if was.mode == "allow" else (was, now)
    return not set(more.list) <= set(less.list)


def _is_more(was: int | None, now: int | None) -> bool:
    """Compares two limits; None is unlimited."""
    return was is not None and (now is None or now > was)


_WIDENS: Mapping[str, Callable[[MCPServerConfig, MCPServerConfig], bool]] = {
    "auto_approve": lambda was, now: rules_widen(was.auto_approve, now.auto_approve),
    "confinement": lambda was, now: now.confinement.widens(was.confinement),
    "call_rules": lambda was, now: call_rules_widen(was.call_rules, now.call_rules),
    "disable": lambda was, now: not now.disable,
    "disabled_tools": lambda was, now: not set(was.disabled_tools) <= set(now.disabled_tools),
    "disabled_skills": lambda was, now: not set(was.disabled_skills) <= set(now.disabled_skills),
    "max_calls": lambda was, now: _is_more(was.max_calls, now.max_calls),
    "calls_per_minute": lambda was, now: _is_more(was.calls_per_minute, now.calls_per_minute),
    "projects": lambda was, now: bool(was.projects) and not (now.projects and set(now.projects) <= set(was.projects)),
    "tool_filter": lambda was, now: _filter_widens(was.tool_filter, now.tool_filter),
    "tool_overrides": lambda was, now: (
        any(_words_of(was.tool_overrides.get(tool)) != _words_of(new) for tool, new in now.tool_overrides.items())
        or any(override_widens(each, None) for tool, each in was.tool_overrides.items() if tool not in now.tool_overrides)
    ),
}
"""Fields whose new value may be narrower than the old one."""


def profile_widens(before: ProfileSettings, after: Mapping[str, object]) -> bool:
    """Returns whether a profile shows more than before; a profile that cannot be read shows nothing."""
    servers, tools, skills = (after.get(member) for member in ("servers", "tools", "skills"))
    tools, skills = (each if isinstance(each, Mapping) else {} for each in (tools, skills))
    if before.servers is not None and not (isinstance(servers, list | tuple) and set(before.servers) >= {*servers, *tools}):
        return True
    pairs = ((tools, before.tools), (skills, before.skills))
    return any(not _is_among(now.get(server), only) for now, was in pairs for server, only in was.items())


def _is_among(given: object, only: Collection[str]) -> bool:
    return isinstance(given, list | tuple) and set(given) <= set(only)


def settings_widen(changes: Mapping[str, object], settings: Settings) -> bool:
    """Returns whether changes of the settings (JSON Merge Patch) let more happen: who gets in over HTTP, which folders servers work in,
    where packages come from, where secrets are kept, whose calls run without asking, what a client sees.
    """
    known = {field.alias for field in Settings.model_fields.values()} - HARMLESS_SETTINGS
    return any(_setting_widens(key, value, settings) for key, value in changes.items() if key in known)


def _setting_widens(key: str, value: object, settings: Settings) -> bool:
    match key:
        case "autoDetectNpmRegistry":
            return value is not False and not settings.auto_detect_npm_registry
        case "profiles":
            return not isinstance(value, Mapping) or any(name in settings.profiles for name in value)
        case "publish":
            return not isinstance(value, Mapping) or any(_publishing_widens(name, each, settings) for name, each in value.items())
        case "approvals":
            return _approvals_widen(value, settings)
        case "updates":
            return value != {"check": False}
        case "newServers":
            return value not in NEW_SERVERS or NEW_SERVERS.index(value) > NEW_SERVERS.index(settings.new_servers)
    return True


def _approvals_widen(value: object, settings: Settings) -> bool:
    """Returns whether fewer calls ask: without the guard, or for a longer time after an approval."""
    if not isinstance(value, Mapping) or not value.keys() <= {"flowGuard", "sameForSeconds"}:
        return True
    before, seconds = settings.approvals, value.get("sameForSeconds", 0)
    is_longer = not (seconds is None or (isinstance(seconds, int) and seconds <= before.same_for_seconds))
    return is_longer or (value.get("flowGuard", True) is not True and before.flow_guard)


def _publishing_widens(key: str, value: object, settings: Settings) -> bool:
    if key in HARMLESS_PUBLISHING:
        return False
    if key != "clients" or not isinstance(value, Mapping):
        return key in ("clients", "http")
    return any(not isinstance(member, Mapping) or _client_widens(name, member, settings) for name, member in value.items())


def _client_widens(name: str, member: Mapping[str, object], settings: Settings) -> bool:
    here = settings.publish.clients.get(name)
    if "profile" in member and here is not None and here.profile not in (None, member["profile"]):
        return True
    if "flowGuard" in member and member["flowGuard"] is not True and (here is None or here.flow_guard is not False):
        return True
    if "callRules" in member and _client_call_rules_widen(here.call_rules if here else None, member["callRules"]):
        return True
    return "autoApprove" in member and client_rules_widen(here.auto_approve if here else None, member["autoApprove"])


def _client_call_rules_widen(before: Collection[CallRule] | None, after: object) -> bool:
    """Returns whether a client's rules widen. If it has no list, the servers' rules count; with an empty list every call asks."""
    if after is None or not isinstance(after, list | tuple):
        return after is not None or before is not None
    try:
        rules = ClientSettings.model_validate({"callRules": after}).call_rules
    except ValidationError:
        return True
    return call_rules_widen(before or (), rules or ())


def client_rules_widen(before: Collection[str] | None, after: object) -> bool:
    """Returns whether `autoApprove` of a kind of AI client widens; the servers' own rules count for a client without any."""
    if after is None or not isinstance(after, list | tuple):
        return after is not None or before is not None
    return bool(after) and (before is None or rules_widen(before, after))
