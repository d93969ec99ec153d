"""Edits of the settings about what AI clients see: modes, profiles, lazy loading, overrides of tools; for `McpConfHelper.edit`.

An edit that raises TooltrayError has changed nothing.
"""

from collections.abc import Mapping
from typing import get_args

from tooltray.config.settings.document import Document, Edit, members, part
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.json_kinds import ValidationError
from tooltray.config.settings.json_model import in_words
from tooltray.config.settings.settings import Mode, ProfileSettings
from tooltray.config.settings.settings_reading import check_counts
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase

MODES: tuple[str, ...] = get_args(Mode)
RESULT_LIMIT = "resultLimit"
NOT_SHOWN = (RESULT_LIMIT, "csvTables", "flow")
"""The members of an override that do not concern how its tool is shown."""
MOST_NAME_CHARACTERS = 100  # of a client or a profile; an odd client may send anything
FORBIDDEN_IN_PROFILES = "/"  # a profile may become part of an address


def client_mode(client: str, mode: str) -> Edit:
    """Sets the mode of a client.

    Args:
        client: empty: every client that has no mode of its own.
        mode: empty: none.
    """
    if mode and mode not in MODES:
        raise TooltrayError(
            Phrase("Mode '{mode}' not found", mode=mode[:MOST_NAME_CHARACTERS]),
            hint=Phrase("Choose one of: {modes}", modes=", ".join(MODES)),
        )
    if client:
        return client_field(client, "mode", mode or None)
    return lambda document: _set(part(document, "publish"), "mode", mode or None)


def client_field(client: str, field: str, value: object) -> Edit:
    """Sets one field of a client's settings.

    Args:
        field: of ClientSettings, as it is spelled in the file.
        value: None removes the field.

    Raises:
        TooltrayError: no client can have this name; the edit: other fields cannot be read, so that the new value would not count.
    """
    _check("an AI client", client)

    def edit(document: Document) -> None:
        clients = part(part(document, "publish"), "clients")
        settings = part(clients, client)
        _set(settings, field, value)
        if not settings:
            del clients[client]
        of_client = ("publish", "clients", client)
        check_counts({"publish": document["publish"]}, of_client, (*of_client, field))

    return edit


def client_profile(client: str, profile: str) -> Edit:
    """Sets the profile of a client. `profile`: empty: none."""
    choose = client_field(client, "profile", profile or None)

    def edit(document: Document) -> None:
        if profile:
            _check_profile(document, profile)
            _check_content(profile, part(document, "profiles")[profile])
        choose(document)

    return edit


def profile(name: str, content: Mapping[str, object]) -> Edit:
    """Adds or replaces a profile."""
    _check("a profile", name, FORBIDDEN_IN_PROFILES)
    new = {key: value for key, value in content.items() if value is not None}
    _check_content(name, new)
    return lambda document: _set(part(document, "profiles"), name, new)


def without_profile(name: str) -> Edit:
    def edit(document: Document) -> None:
        _check_profile(document, name)
        clients = part(part(document, "publish"), "clients")
        if users := sorted(client for client, settings in clients.items() if _is_of(settings, name)):
            raise Conflict(
                Phrase("The profile '{name}' is in use", name=name),
                Phrase("by {users}", users=", ".join(users)),
                Phrase("Give these AI clients another one first."),
            )
        part(document, "profiles").pop(name)

    return edit


def lazy_load(enabled: bool | None, server: str | None) -> Edit:
    """Sets `lazyLoad`.

    Args:
        enabled: None removes it.
        server: None: for all servers without a choice of their own.
    """

    def edit(document: Document) -> None:
        if server is None:
            _set(part(document, "publish"), "lazyLoad", enabled)
            return
        entry = _entry(document, server)
        _set(entry, "lazyLoad", enabled)
        if "lazyLoad" in members(entry, "options"):  # another program's spelling, which would count again
            del part(entry, "options")["lazyLoad"]
        read_entry(server, entry)

    return edit


def read_override(tool: str, shown: Mapping[str, object]) -> ToolOverride:
    """Reads and checks an override given as JSON.

    Raises:
        TooltrayError: explains which part is wrong and why.
    """
    try:
        return ToolOverride.model_validate(shown)
    except ValidationError as error:
        raise TooltrayError(Phrase("{tool} cannot be shown like this", tool=repr(tool[:MOST_NAME_CHARACTERS])), in_words(error)) from None


def check_limit(tokens: int | None) -> None:
    """Checks how many tokens of a result AI clients get at once. Raises TooltrayError if the number is impossible."""
    try:
        ToolOverride.model_validate({RESULT_LIMIT: tokens})
    except ValidationError as error:
        raise TooltrayError(Phrase("Invalid limit for results"), in_words(error)) from None


def tool_override(server: str, tool: str, shown: Mapping[str, object]) -> Edit:
    """Sets the override of a tool.

    Args:
        shown: the override as JSON; without members, the tool's own words count again. Members that are not shown
            stay: the limit and the form of its results, and its role for the flow guard.
    """

    def edit(document: Document) -> None:
        entry = _entry(document, server)
        overrides = part(entry, "toolOverrides")
        before = overrides.get(tool)
        kept = {name: before[name] for name in NOT_SHOWN if isinstance(before, dict) and name in before}
        _set(overrides, tool, {**shown, **kept} or None)
        if not overrides:
            del entry["toolOverrides"]
        read_entry(server, entry)

    return edit


def tool_member(server: str, tool: str, member: str, value: object) -> Edit:
    """Sets one member of a tool's override, such as the limit of its results; None: as its server has it."""

    def edit(document: Document) -> None:
        entry = _entry(document, server)
        overrides = part(entry, "toolOverrides")
        override = part(overrides, tool)
        _set(override, member, value)
        if not override:
            del overrides[tool]
        if not overrides:
            del entry["toolOverrides"]
        read_entry(server, entry)

    return edit


def _check(what: str, name: str, forbidden: str = "") -> None:
    is_usable = 0 < len(name) <= MOST_NAME_CHARACTERS and name.isprintable() and name == name.strip()
    if not is_usable or any(character in name for character in forbidden):
        rule = f"a name has 1 to {MOST_NAME_CHARACTERS} characters that can be seen, and spaces only between them"
        without = f"; it has no {', '.join(repr(each) for each in forbidden)}" if forbidden else ""
        raise TooltrayError(
            Phrase("{name} cannot be the name of {what}", name=repr(name[:MOST_NAME_CHARACTERS]), what=what), rule + without
        )


def _check_profile(document: Document, name: str) -> None:
    if name not in part(document, "profiles"):
        raise NotFound(
            Phrase("Profile '{name}' not found", name=name[:MOST_NAME_CHARACTERS]),
            hint=Phrase("See which there are: tooltray profiles list"),
        )


def _check_content(name: str, profile: object) -> None:
    try:
        ProfileSettings.model_validate(profile)
    except ValidationError as error:
        raise TooltrayError(
            Phrase("The profile '{name}' cannot be used", name=name), in_words(error), Phrase("Set it again: tooltray profiles set")
        ) from None


def _is_of(settings: object, profile: str) -> bool:
    return isinstance(settings, dict) and settings.get("profile") == profile


def _entry(document: Document, server: str) -> dict[str, object]:
    entry = part(document, "mcpServers").get(server)
    if not isinstance(entry, dict):
        raise NotFound(
            Phrase("Server '{server}' not found in the settings", server=server),
            hint=Phrase("List the servers: tooltray servers list"),
        )
    return entry


def _set(holder: dict[str, object], key: str, value: object) -> None:
    if value is None:
        holder.pop(key, None)
    else:
        holder[key] = value
