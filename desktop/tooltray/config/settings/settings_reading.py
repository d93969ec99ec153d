"""Reads the settings' JSON as far as it is usable, and reports the rest.

A mistake must never let a call run without asking, show a client more or let a process do more than the writer meant: a restriction with a
mistake restricts everything.
"""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import msgspec
from pydantic import (
    StrictBool,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from tooltray.config.settings.document import Document, version_of
from tooltray.config.settings.given_entries import NOTHING_BY_THEM, UnusableEntry, check_name, printable_name, read_usable_entry
from tooltray.config.settings.misspelt import misspelt
from tooltray.config.settings.server_config import MCPServerConfig, Target
from tooltray.config.settings.settings import (
    ANY_SERVER,
    ActivitySettings,
    ApprovalSettings,
    ClientSettings,
    DiscoverySettings,
    FileServerSettings,
    ProfileSettings,
    PublishSettings,
    RegistryEntry,
    ResultSettings,
    SecretCommands,
    SecretSettings,
    Settings,
    TelemetrySettings,
    UnixTime,
    WindowSettings,
)
from tooltray.config.settings.usable import (
    CORRECT_IT,
    MUST_BE_OBJECT,
    Model,
    Slip,
    correct_it,
    first_path,
    in_words,
    joined,
    not_fully_used,
    not_used,
    of_field,
    of_member,
    read_fields,
    read_members,
    read_texts,
)
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.languages import languages
from tooltray.foundation.phrases import Phrase

Default = TypeVar("Default")

UNREADABLE_PROFILE = "(cannot be read)"
"""Stands in for a profile name that is not a string. No such profile exists, so the client sees no tools."""
_NO_CONTENTS = Phrase("the journal keeps no arguments and no results")
_MEANWHILE = {
    "http": Phrase("AI clients cannot connect over HTTP"),
    "line": Phrase("the journal does not keep what calls touched"),
    "contents": _NO_CONTENTS,
    "contentsUntil": _NO_CONTENTS,
    "flowGuard": Phrase("the flow guard is on"),
}
_HELD = {
    "autoApprove": Phrase("each of its calls is asked about"),
    "callRules": NOTHING_BY_THEM,
    "profile": Phrase("it sees nothing"),
    "flowGuard": Phrase("the flow guard is on for it"),
}
_NOT_STARTED = Phrase("it does not start")


class Reading(msgspec.Struct, frozen=True):
    """The usable part of a document, and the slips in the rest."""

    settings: Settings = msgspec.field(default_factory=Settings)
    slips: tuple[Slip, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Returns what is wrong, without the places."""
        return tuple(slip.problem for slip in self.slips)


def read_settings(document: Document, reserved: Collection[str] = ()) -> Reading:
    """Reads a document as far as it is usable.

    Args:
        document: the parsed file, of any version up to now or newer.
        reserved: names of servers that come with Tooltray.
    """
    slips: list[Slip] = []
    settings = Settings(
        version=version_of(document),
        mcp_servers=_read_servers(document.get("mcpServers"), reserved, slips),
        default_servers=_read_defaults(document.get("defaultServers"), slips),
        mcp_enabled=_read_part(document, "mcpEnabled", StrictBool, True, slips),
        paused_until=_read_part(document, "pausedUntil", UnixTime, 0.0, slips),
        publish=_read_publish(document.get("publish"), slips),
        secrets=_read_part(document, "secrets", SecretSettings, SecretSettings(), slips),
        secret_commands=_read_part(document, "secretCommands", SecretCommands, {}, slips),
        auto_detect_npm_registry=_read_part(document, "autoDetectNpmRegistry", StrictBool, True, slips),
        custom_npm_registry=_read_part(document, "customNpmRegistry", Target, None, slips),
        npm_registries=_read_part(document, "npmRegistries", tuple[RegistryEntry, ...], (), slips),
        profiles=_read_profiles(document.get("profiles"), slips),
        allowed_folders=read_texts("allowedFolders", document.get("allowedFolders"), slips),
        ready_answers=read_texts("readyAnswers", document.get("readyAnswers"), slips),
        hot_reload=_read_part(document, "hotReload", StrictBool, True, slips),
        file_servers=_read_file_servers(document.get("fileServers"), slips),
        discovery=_read_part(document, "discovery", DiscoverySettings, DiscoverySettings(), slips),
        language=_read_language(document, slips),
        window=_read_part(document, "window", WindowSettings, WindowSettings(), slips),
        notifications=_read_part(document, "notifications", dict[str, StrictBool], {}, slips),
        activity=_read_activity(document.get("activity"), slips),
        telemetry=_read_part(document, "telemetry", TelemetrySettings, TelemetrySettings(), slips),
        results=_read_part(document, "results", ResultSettings, ResultSettings(), slips),
        approvals=_read_approvals(document.get("approvals"), slips),
    )
    return Reading(settings, (*slips, *misspelt(document)))


def _read_servers(entries: object, reserved: Collection[str], slips: list[Slip]) -> dict[str, MCPServerConfig]:
    if entries is None:
        return {}
    if not isinstance(entries, dict):
        slips.append(_no_object("mcpServers"))
        return {}
    servers = {}
    for name, entry in entries.items():
        try:
            check_name(name, reserved)
            servers[name], odd = read_usable_entry(name, entry)
            slips.extend(Slip(problem, ("mcpServers", name, member)) for member, problem in odd.items())
        except TooltrayError as error:
            path = error.path if isinstance(error, UnusableEntry) else ()
            slips.append(Slip(error.problem, ("mcpServers", name, *path), name))
    return servers


def _no_object(key: str, meanwhile: str = "") -> Slip:
    return not_used(key, of_field(key, MUST_BE_OBJECT), meanwhile)


def _read_usable(name: str, model: type[Model], given: Mapping[str, object], slips: list[Slip]) -> tuple[Model, set[str]]:
    """Returns the usable part, and the unusable fields in the spelling of the settings."""
    part, odd = read_fields(model, given)
    slips.extend(not_used(f"{name}.{key}", of_field(name, joined(why)), _MEANWHILE.get(key, "")) for key, why in odd.items())
    return part, {to_camel(key) for key in odd}


def _read_publish(given: object, slips: list[Slip]) -> PublishSettings:
    if given is None:
        return PublishSettings()
    if not isinstance(given, Mapping):
        slips.append(_no_object("publish"))
        return PublishSettings()
    publish, _ = _read_usable("publish", PublishSettings, {key: value for key, value in given.items() if key != "clients"}, slips)
    if given.get("clients") is None:
        return publish
    return publish.model_copy(update={"clients": _read_clients(given["clients"], slips)})


def _read_activity(given: object, slips: list[Slip]) -> ActivitySettings:
    """Reads the journal's settings. After a slip in them the journal may keep less than their writer meant, and never more."""
    if given is None:
        return ActivitySettings()
    if not isinstance(given, Mapping):
        slips.append(_no_object("activity", _MEANWHILE["line"]))
        return ActivitySettings(line=False)
    activity, fields = _read_usable("activity", ActivitySettings, given, slips)
    less = {"line": False} if "line" in fields else {}
    return activity.model_copy(update=less | ({"contents": False} if fields & {"contents", "contentsUntil"} else {}))


def _read_approvals(given: object, slips: list[Slip]) -> ApprovalSettings:
    """Reads `approvals`. After a slip in it more calls ask than its writer meant, and never fewer."""
    if given is None:
        return ApprovalSettings()
    if not isinstance(given, Mapping):
        slips.append(_no_object("approvals", _MEANWHILE["flowGuard"]))
        return ApprovalSettings(flow_guard=True)
    approvals, fields = _read_usable("approvals", ApprovalSettings, given, slips)
    return approvals.model_copy(update={"flow_guard": True}) if "flowGuard" in fields else approvals


def _read_clients(given: object, slips: list[Slip]) -> dict[str, ClientSettings]:
    if not isinstance(given, Mapping):
        slips.append(not_used("publish.clients", of_field("publish", of_field("clients", MUST_BE_OBJECT))))
        return {}
    return {name: _read_client(name, value, slips) for name, value in given.items() if value is not None}


def _read_client(name: str, given: object, slips: list[Slip]) -> ClientSettings:
    """Reads the usable part of an entry. After a slip no client may do or see more than its writer meant: everything is restricted."""
    if isinstance(given, Mapping):
        client, odd = read_fields(ClientSettings, given)
        fields, why = {to_camel(key) for key in odd}, [of_member(f"clients.{name}", each) for reasons in odd.values() for each in reasons]
    else:
        client, fields, why = ClientSettings(), {"autoApprove"}, [of_field(f"clients.{name}", MUST_BE_OBJECT)]
        odd = {}
    if fields:
        title = Phrase("The settings of AI client '{client}' are not fully used", client=printable_name(name))
        problem = Problem(title, of_field("publish", joined(why)), correct_it(_held_back(fields)))
        slips.append(Slip(problem, ("publish", "clients", name, *list(odd)[:1])))
    held: dict[str, object] = {"auto_approve": ()} if "autoApprove" in fields else {}
    held |= {"flow_guard": True} if "flowGuard" in fields else {}
    held |= {"call_rules": ()} if "callRules" in fields else {}
    return client.model_copy(update=held | ({"profile": UNREADABLE_PROFILE} if "profile" in fields else {}))


def _held_back(fields: Collection[str]) -> str:
    words: list[str] = [words for field_name, words in _HELD.items() if field_name in fields]
    text = words[0] if words else ""
    for other in words[1:]:
        text = Phrase("{one} and {other}", one=text, other=other)
    return text


def _read_profiles(given: object, slips: list[Slip]) -> dict[str, ProfileSettings]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        slips.append(_no_object("profiles", Phrase("AI clients that have a profile see nothing")))
        return {}

    def report(name: str, why: str) -> None:
        hint = correct_it(Phrase("AI clients that have it see nothing"))
        title = Phrase("The profile '{profile}' cannot be used", profile=printable_name(name))
        slips.append(Slip(Problem(title, of_field("profiles", why), hint), ("profiles", name)))

    return read_members(ProfileSettings, given, report)


def _read_file_servers(given: object, slips: list[Slip]) -> dict[str, FileServerSettings]:
    """Reads the choices for servers of other files. After a slip in them no call may run without asking, and no server be more open: each
    call of a server whose choices cannot be read asks, and a server whose confinement cannot be read does not start.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        slips.append(_no_object("fileServers", Phrase("servers of other files do not start") if given else ""))
        return {ANY_SERVER: FileServerSettings(auto_approve=(), disable=True)} if given else {}
    held: dict[str, FileServerSettings] = {}

    def report(name: str, why: str) -> None:
        held[name] = _held_choices(given[name])
        meanwhile = _NOT_STARTED if held[name].disable else _HELD["autoApprove"]
        title = Phrase("What was chosen for the server '{server}' cannot be used", server=printable_name(name))
        slips.append(Slip(Problem(title, of_field("fileServers", why), correct_it(meanwhile)), ("fileServers", name)))

    return read_members(FileServerSettings, given, report) | held


def _held_choices(given: object) -> FileServerSettings:
    if not isinstance(given, Mapping):
        return FileServerSettings(auto_approve=(), disable=True)
    chosen, odd = read_fields(FileServerSettings, given)
    return FileServerSettings(auto_approve=(), confinement=chosen.confinement, disable="confinement" in odd or None)


def _read_defaults(names: object, slips: list[Slip]) -> tuple[str, ...]:
    if names is None:
        return ()
    usable = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    if not isinstance(names, list) or len(usable) < len(names):
        message = of_field("defaultServers", Phrase("must be a list of names"))
        slips.append(Slip(Problem(not_fully_used("defaultServers"), message, CORRECT_IT), ("defaultServers",)))
    return tuple(dict.fromkeys(usable))


def _read_language(document: Document, slips: list[Slip]) -> str | None:
    code: str | None = _read_part(document, "language", StrictStr, None, slips)
    if code is None or any(code == language.code for language in languages()):
        return code
    slips.append(not_used("language", of_field("language", Phrase("there is no language '{code}'", code=printable_name(code)))))
    return None


def _read_part(document: Document, key: str, kind: Any, default: Default, slips: list[Slip]) -> Default:
    if document.get(key) is None:
        return default
    try:
        value: Default = TypeAdapter(kind).validate_python(document[key])
        return value
    except ValidationError as error:
        slips.append(not_used(key, of_field(key, in_words(error)), path=(key, *first_path(error))))
        return default
