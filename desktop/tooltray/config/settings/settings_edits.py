"""Edits of the settings other than the servers, for `McpConfHelper.edit`."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import get_args, get_origin

from tooltray.config.secrets.vaults import SecretBackend
from tooltray.config.settings import view_settings
from tooltray.config.settings.document import NOT_CHANGED, Document, Edit, part
from tooltray.config.settings.json_kinds import Path, ValidationError
from tooltray.config.settings.json_model import CORRECT_IT, JsonModel, in_words, printable
from tooltray.config.settings.settings import HttpSettings, Settings
from tooltray.config.settings.settings_reading import UNREADABLE_PROFILE, read_settings
from tooltray.foundation.errors import Conflict, Problem, TooltrayError, in_one_line
from tooltray.foundation.files.json_text import revision_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import SettingsDocument

NOT_SETTINGS = ("version", "mcpServers", "defaultServers", "fileServers")
"""The parts of the file about servers, or about the file itself."""

MAX_PORT = 65535
MOST_SHOWN_CHARACTERS = 64  # of a name that a client made up


def secret_backend(kind: SecretBackend) -> Edit:
    """Decides where secrets are stored from now on; moves none.

    Raises:
        TooltrayError: no such backend exists.
    """
    if kind not in get_args(SecretBackend):
        raise TooltrayError(
            Phrase("Secrets cannot be kept there"),
            "",
            Phrase("Choose one of: {secretbackend}", secretbackend=", ".join(get_args(SecretBackend))),
        )
    return lambda document: part(document, "secrets").update(backend=kind)


def http_access(enabled: bool, port: int | None = None) -> Edit:
    """Switches the HTTP endpoints on or off.

    Args:
        port: the new port; None leaves it unchanged.

    Raises:
        TooltrayError: no such port exists; the edit: another part of `publish.http` cannot be used.
    """
    if port is not None and not 0 <= port <= MAX_PORT:
        raise TooltrayError(
            Phrase("Port {port} does not exist", port=port),
            hint=Phrase("Choose one from 1 to {max_port}, or 0 for any that is free", max_port=MAX_PORT),
        )

    def edit(document: Document) -> None:
        http = part(part(document, "publish"), "http")
        http["enabled"] = enabled
        if port is not None:
            http["port"] = port
        if enabled:
            check_http(http)

    return edit


def npm_registry(*, custom: str | None = None, is_auto_detect: bool | None = None) -> Edit:
    """Decides where npm packages of servers come from.

    Args:
        custom: the user's own registry; empty for none; None leaves it unchanged.
        is_auto_detect: whether to detect and use the fastest; None leaves it unchanged.
    """

    def edit(document: Document) -> None:
        if is_auto_detect is not None:
            document["autoDetectNpmRegistry"] = is_auto_detect
        if custom:
            document["customNpmRegistry"] = custom
        elif custom is not None:
            document.pop("customNpmRegistry", None)

    return edit


def api_access(enabled: bool, *, forget_trust: bool = False) -> Edit:
    """Switches the REST interface on or off.

    Args:
        enabled: whether programs may use it. Switching it on also switches HTTP on, as both have the same address.
        forget_trust: deletes the setting of an older version, see `without_old_trust`.
    """

    def edit(document: Document) -> None:
        http = part(part(document, "publish"), "http")
        api = part(http, "api")
        api["enabled"] = enabled
        if forget_trust:
            api.pop("trusted", None)
        if enabled:
            http["enabled"] = True
            check_http(http)

    return edit


def without_old_trust(document: Document) -> None:
    """Deletes the trust that an older version wrote: trust belongs to tokens now."""
    part(part(part(document, "publish"), "http"), "api").pop("trusted", None)


def merge_patch(changes: Mapping[str, object], revision: str) -> Edit:
    """Applies a JSON Merge Patch (RFC 7396) to the settings besides the servers.

    Args:
        changes: in the spelling of the file; null removes.
        revision: of the settings that the caller has seen; empty: any.

    Raises:
        Conflict: the edit: the settings have changed.
        TooltrayError: the edit: a value cannot be used, or may not be changed here.
    """

    def edit(document: Document) -> None:
        try:
            _merge(document, changes, revision)
        except RecursionError:
            raise TooltrayError(NOT_CHANGED, Phrase("the change is nested too deeply")) from None

    return edit


def settings_of(document: Document) -> Document:
    """Returns the settings besides the servers."""
    return {key: value for key, value in document.items() if key not in NOT_SETTINGS}


def settings_document(document: Document) -> SettingsDocument:
    """Returns the settings besides the servers, with their revision."""
    settings = settings_of(document)
    return SettingsDocument(settings, revision_of(settings))


def _merge(document: Document, changes: Mapping[str, object], revision: str) -> None:
    if revision and revision_of(settings_of(document)) != revision:
        reason = Phrase("they were changed since you opened them")
        raise Conflict(Phrase("These settings have changed meanwhile"), reason, Phrase("Review them and decide again."))
    _check_are_known(changes)
    before = set(_problems(document))
    for key, value in changes.items():
        _patch(document, key, value)
    idle = {slip.problem for slip in read_settings(settings_of(document)).slips if slip.part and _is_in(slip.part, changes)}
    for problem in _problems(document):
        if problem not in before or problem in idle:
            raise TooltrayError(NOT_CHANGED, problem.message or problem.title)


def _is_in(part: Path, changes: object) -> bool:
    """Returns whether changes are made in a part: if it cannot be read, they would not count."""
    for step in part:
        if not isinstance(changes, Mapping) or step not in changes:
            return not isinstance(changes, Mapping)
        changes = changes[step]
    return True


def _patch(holder: dict[str, object], key: str, value: object) -> None:
    if value is None:
        holder.pop(key, None)
    elif isinstance(value, Mapping):
        inner = part(holder, key)
        for name, each in value.items():
            _patch(inner, name, each)
    else:
        holder[key] = value


# checks


def _check_are_known(changes: Mapping[str, object]) -> None:
    for key in changes:
        if key in NOT_SETTINGS:
            raise TooltrayError(NOT_CHANGED, Phrase("{key}: this is not a setting", key=key), Phrase("Change a server by its name."))
    for path in _unknown(Settings, changes, ""):
        raise TooltrayError(NOT_CHANGED, Phrase("{path}: no such setting", path=_shown(path)))


def _unknown(model: type[JsonModel], given: Mapping[str, object], place: str) -> Iterator[str]:
    """Yields the places of values that no setting reads. A removed value need not be known."""
    fields = {field.alias: field.kind for field in model.model_fields.values()}
    for key, value in given.items():
        if value is not None and key not in fields:
            yield f"{place}{key}"
        else:
            yield from _unknown_in(fields.get(key), value, f"{place}{key}.")


def _unknown_in(kind: object, value: object, place: str) -> Iterator[str]:
    if isinstance(value, list) and get_origin(kind) is tuple:
        for number, member in enumerate(value):
            yield from _unknown_in(get_args(kind)[0], member, f"{place}{number}.")
    elif isinstance(value, Mapping) and isinstance(kind, type) and issubclass(kind, JsonModel):
        yield from _unknown(kind, value, place)
    elif isinstance(value, Mapping) and get_origin(kind) is Mapping:
        for name, member in value.items():
            yield from _unknown_in(get_args(kind)[1], member, f"{place}{name}.")


def _problems(document: Document) -> Iterator[Problem]:
    """Yields the faults of the settings: unusable values, and names that lead nowhere."""
    reading = read_settings(settings_of(document))
    yield from reading.problems
    for folder in reading.settings.allowed_folders:
        if not os.path.isabs(folder):
            yield Problem(NOT_CHANGED, Phrase("allowedFolders: {folder}: a folder's whole path is needed", folder=_shown(folder)))
    for name, profile in reading.settings.profiles.items():
        yield from _refusal(view_settings.profile, name, profile.model_dump(by_alias=True))
    for client, chosen in reading.settings.publish.clients.items():
        yield from _refusal(view_settings.client_field, client, "mode", None)
        if chosen.profile not in (None, UNREADABLE_PROFILE, *reading.settings.profiles):
            yield Problem(
                NOT_CHANGED,
                Phrase(
                    "publish.clients.{client}.profile: profile '{value}' not found",
                    client=_shown(client),
                    value=_shown(chosen.profile or ""),
                ),
            )


def _refusal(make: Callable[..., Edit], *arguments: object) -> Iterator[Problem]:
    """Yields the reason for which the verb's edit would be refused."""
    try:
        make(*arguments)
    except TooltrayError as error:
        yield Problem(NOT_CHANGED, in_one_line(error.problem.title, error.problem.message))


def check_http(http: Mapping[str, object]) -> None:
    """Raises TooltrayError if a part of `publish.http` cannot be used, since then the whole would not be."""
    try:
        HttpSettings.model_validate(http)
    except ValidationError as error:
        raise TooltrayError(
            Phrase("HTTP cannot be switched on"), Phrase("publish: http: {reason}", reason=in_words(error)), CORRECT_IT
        ) from None


def _shown(text: str) -> str:
    return printable(text[:MOST_SHOWN_CHARACTERS])
