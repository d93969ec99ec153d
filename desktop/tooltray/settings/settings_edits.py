"""Changes to the settings besides the servers: edits of the document, to be made by McpConfHelper.

Above it: McpConfHelper, HttpAccess, the command line where no hub runs. Below it: the settings' models. Each function returns an edit that
changes a document in place, and raises TooltrayError where the result could not be used.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from tooltray.errors import Conflict, Problem, TooltrayError, in_one_line
from tooltray.files.revisions import revision_of
from tooltray.secrets.vaults import SecretBackend
from tooltray.settings import view_settings
from tooltray.settings.document_parts import part
from tooltray.settings.migrations import Document
from tooltray.settings.server_config import JsonModel
from tooltray.settings.settings import UNREADABLE_PROFILE, HttpSettings, Settings, read_settings
from tooltray.settings.settings_file import Edit
from tooltray.settings.usable import CORRECT_IT, in_words

NOT_SETTINGS = ("version", "mcpServers", "defaultServers", "fileServers")
"""What of the file is about servers, or about the file itself."""

MAX_PORT = 65535
MOST_SHOWN_CHARACTERS = 64  # of a name that somebody made up
NOT_CHANGED = "The settings are not changed"


def secret_backend(kind: SecretBackend) -> Edit:
    """See McpConfHelper.set_secret_backend."""
    if kind not in get_args(SecretBackend):
        raise TooltrayError("Secrets cannot be kept there", "", f"Choose one of: {', '.join(get_args(SecretBackend))}")
    return lambda document: part(document, "secrets").update(backend=kind)


def http_access(enabled: bool, port: int | None) -> Edit:
    """See McpConfHelper.set_http."""
    if port is not None and not 0 <= port <= MAX_PORT:
        raise TooltrayError(f"There is no port {port}", hint=f"Choose one from 1 to {MAX_PORT}, or 0 for any that is free")

    def edit(document: Document) -> None:
        http = part(part(document, "publish"), "http")
        http["enabled"] = enabled
        if port is not None:
            http["port"] = port
        if enabled:
            check_http(http)

    return edit


def npm_registry(custom: str | None, is_auto_detect: bool | None) -> Edit:
    """See McpConfHelper.set_npm_registry."""

    def edit(document: Document) -> None:
        if is_auto_detect is not None:
            document["autoDetectNpmRegistry"] = is_auto_detect
        if custom:
            document["customNpmRegistry"] = custom
        elif custom is not None:
            document.pop("customNpmRegistry", None)

    return edit


def api_access(enabled: bool, *, forget_trust: bool = False) -> Edit:
    """
    Args:
        enabled: whether programs may use the REST interface; it is at the address of HTTP, which is switched on with it.
        forget_trust: takes out what an older version wrote there, see `without_old_trust`.
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
    """Trust belongs to tokens now; what a person has answered about the old setting stands elsewhere."""
    part(part(part(document, "publish"), "http"), "api").pop("trusted", None)


def merge_patch(changes: Mapping[str, Any], revision: str) -> Edit:
    """JSON Merge Patch (RFC 7396) on what is not about servers.

    Args:
        changes: in the spelling of the file; null removes.
        revision: of the settings that are to be changed; empty: whatever they are.
    """

    def edit(document: Document) -> None:
        try:
            _merge(document, changes, revision)
        except RecursionError:
            raise TooltrayError(NOT_CHANGED, "what is to be changed is nested too deeply") from None

    return edit


def settings_of(document: Document) -> dict[str, Any]:
    """What a document says besides the servers."""
    return {key: value for key, value in document.items() if key not in NOT_SETTINGS}


def _merge(document: Document, changes: Mapping[str, Any], revision: str) -> None:
    if revision and revision_of(settings_of(document)) != revision:
        reason = "somebody has changed them since you looked at them"
        raise Conflict("These settings are others by now", reason, "Look again, and decide anew.")
    _check_are_known(changes)
    before = set(_problems(document))
    for key, value in changes.items():
        _patch(document, key, value)
    for problem in _problems(document):
        if problem not in before:
            raise TooltrayError(NOT_CHANGED, problem.message or problem.title)


def _patch(holder: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        holder.pop(key, None)
    elif isinstance(value, Mapping):
        inner = part(holder, key)
        for name, each in value.items():
            _patch(inner, name, each)
    else:
        holder[key] = value


# what may be said


def _check_are_known(changes: Mapping[str, Any]) -> None:
    for key in changes:
        if key in NOT_SETTINGS:
            raise TooltrayError(NOT_CHANGED, f"{key}: this is no setting", "Change a server by its name.")
    for path in _unknown(Settings, changes, ""):
        raise TooltrayError(NOT_CHANGED, f"{_shown(path)}: there is no such setting")


def _unknown(model: type[JsonModel], given: Mapping[str, Any], place: str) -> Iterator[str]:
    """Where something is set that nobody reads. What is removed need not be known."""
    fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    for key, value in given.items():
        if value is not None and key not in fields:
            yield f"{place}{key}"
        else:
            yield from _unknown_in(fields.get(key), value, f"{place}{key}.")


def _unknown_in(kind: Any, value: Any, place: str) -> Iterator[str]:
    if isinstance(value, list) and get_origin(kind) is tuple:
        for number, member in enumerate(value):
            yield from _unknown_in(get_args(kind)[0], member, f"{place}{number}.")
    elif isinstance(value, Mapping) and isinstance(kind, type) and issubclass(kind, JsonModel):
        yield from _unknown(kind, value, place)
    elif isinstance(value, Mapping) and get_origin(kind) is Mapping:
        for name, member in value.items():
            yield from _unknown_in(get_args(kind)[1], member, f"{place}{name}.")


def _problems(document: Document) -> Iterator[Problem]:
    """What of the settings cannot be used, or leads nowhere."""
    reading = read_settings(settings_of(document))
    yield from reading.problems
    for folder in reading.settings.allowed_folders:
        if not os.path.isabs(folder):
            yield Problem(NOT_CHANGED, f"allowedFolders: {_shown(folder)}: a folder's whole path is needed")
    for name, profile in reading.settings.profiles.items():
        yield from _refusal(view_settings.profile, name, profile.model_dump(by_alias=True))
    for client, chosen in reading.settings.publish.clients.items():
        yield from _refusal(view_settings.client_field, client, "mode", None)
        if chosen.profile not in (None, UNREADABLE_PROFILE, *reading.settings.profiles):
            yield Problem(NOT_CHANGED, f"publish.clients.{_shown(client)}.profile: there is no profile '{_shown(chosen.profile or '')}'")


def _refusal(make: Callable[..., Edit], *arguments: Any) -> Iterator[Problem]:
    """Why the verb for it would refuse that."""
    try:
        make(*arguments)
    except TooltrayError as error:
        yield Problem(NOT_CHANGED, in_one_line(error.problem.title, error.problem.message))


def check_http(http: Mapping[str, Any]) -> None:
    """What it would say is not used as long as a part of it cannot be.

    Raises:
        TooltrayError: a part of it cannot be.
    """
    try:
        HttpSettings.model_validate(http)
    except ValidationError as error:
        raise TooltrayError("HTTP cannot be switched on", f"publish: http: {in_words(error)}", CORRECT_IT) from None


def _shown(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text[:MOST_SHOWN_CHARACTERS])
