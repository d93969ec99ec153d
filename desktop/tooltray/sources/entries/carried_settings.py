"""Exports the settings of a set-up besides its servers, lists what an import changes, and applies the changes; all functions are pure.

Settings that belong to one machine are not exported: HTTP access of AI clients, the secret backend, allowed project folders, and the pause.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tooltray.config.settings.call_rule import read_rule
from tooltray.config.settings.document import Document, part
from tooltray.config.settings.server_config import shown_url
from tooltray.config.settings.settings import Settings
from tooltray.config.settings.settings_reading import read_settings
from tooltray.config.settings.widening import settings_widen
from tooltray.consent.approvals import rule_words
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import SetupChange

Path = tuple[str, ...]

WHOLE: tuple[Path, ...] = (
    *(("autoDetectNpmRegistry",), ("npmRegistries",), ("customNpmRegistry",), ("readyAnswers",), ("discovery", "registry")),
    *(("publish", "naming"), ("publish", "lazyLoad"), ("publish", "mode"), ("publish", "feedback")),
)
BY_NAME: tuple[Path, ...] = (("profiles",), ("publish", "clients"))
"""Objects whose members are imported one by one: imported profiles are added to the existing ones."""
SHORTEST_KNOWN = 6  # characters of a secret that is searched in ready answers; shorter ones occur in harmless words


def exported(settings: Settings, document: Document, known: Collection[str]) -> Document:
    """Returns the settings for a set-up, in the format of settings.json.

    Args:
        document: the settings as written in the file; defaults that are not written there are not exported.
        known: values of secrets, which are removed from the export.
    """
    readable = settings.model_dump(mode="json", by_alias=True)
    as_given = settings.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    made: Document = {}
    unreadable = {slip.part for slip in read_settings(document).slips}
    for path in (*WHOLE, *BY_NAME):
        if path in unreadable or (path in WHOLE and path[:1] in unreadable):
            continue
        value = _at(readable if len(path) == 1 and path not in BY_NAME else as_given, path)
        if path in BY_NAME and value:
            value = {name: each for name, each in value.items() if (*path, name) not in unreadable}
        if value not in (None, {}) and _at(document, path) is not None:
            _set(made, path, _harmless(value, [secret for secret in known if len(secret) >= SHORTEST_KNOWN]))
    return made


def check(setup: Mapping[str, object]) -> None:
    """Checks the settings in a set-up.

    Raises:
        TooltrayError: a setting cannot be used; the error names it and the reason.
    """
    carried: Document = {}
    for path in (*WHOLE, *BY_NAME):
        if (value := _at(setup, path)) is not None:
            _set(carried, path, value)
    publish = setup.get("publish")
    for problem in read_settings(carried if isinstance(publish, Mapping) else {**carried, "publish": publish}).problems:
        raise TooltrayError(
            Phrase("A setting in this backup cannot be used"), problem.message, Phrase("Correct it in the file; nothing was changed.")
        )


def changes(setup: Mapping[str, object], document: Document, *, replace: bool) -> Iterator[SetupChange]:
    """Yields the changes that an import of checked settings makes."""
    for path in _paths(setup):
        given, here = _at(setup, path), _at(document, path)
        if given != here:
            kind = "add" if here is None else "replace" if replace else "keep"
            yield SetupChange(kind, "setting", ".".join(path), _in_words(path, given))


def widens(change: SetupChange, setup: Mapping[str, object], document: Document, settings: Settings) -> bool:
    """Reports whether one change permits more than before.

    Args:
        document, settings: the settings before the change.
    """
    path = _path_of(change.name, setup)
    given, here = _at(setup, path), _at(document, path)
    if isinstance(given, Mapping) and isinstance(here, Mapping):
        given = {**dict.fromkeys(here), **given}  # the whole object is replaced, and what it leaves out is removed
    patch: Document = {}
    _set(patch, path, given)
    return settings_widen(patch, settings)


def standing(name: str, setup: Mapping[str, object], document: Document) -> object:
    """Returns a document's present value at the place of a change; None without one."""
    return _at(document, _path_of(name, setup))


def apply(change: SetupChange, setup: Mapping[str, object], document: Document) -> None:
    """Applies one change to a document."""
    path = _path_of(change.name, setup)
    _set(document, path, _at(setup, path))


def _path_of(name: str, setup: Mapping[str, object]) -> Path:
    return next(path for path in _paths(setup) if ".".join(path) == name)


def _paths(setup: Mapping[str, object]) -> Iterator[Path]:
    yield from (path for path in WHOLE if _at(setup, path) is not None)
    for path in BY_NAME:
        yield from ((*path, name) for name, value in (_at(setup, path) or {}).items() if value is not None)


def _in_words(path: Path, value: Any) -> str:
    """Describes an AI client's approval rules, which the user has to check in a foreign file; empty for other settings."""
    given = path[:-1] == ("publish", "clients") and not (value.get("autoApprove") is None and value.get("callRules") is None)
    if not given:
        return ""
    by_rules = [rule_words.words(read_rule(each)) for each in value.get("callRules") or ()]
    return f"approved without asking: {', '.join([*(value.get('autoApprove') or ()), *by_rules]) or 'nothing'}"


def _harmless(value: object, known: Collection[str]) -> object:
    """Returns a setting without user names and passwords in URLs, and without texts that contain a secret."""
    if isinstance(value, str):
        return shown_url(value) if "://" in value else value
    if isinstance(value, list):
        kept = [each for each in value if not (isinstance(each, str) and any(secret in each for secret in known))]
        return [{**each, "url": shown_url(each["url"])} if isinstance(each, Mapping) else each for each in kept]
    return value


def _at(document: Mapping[str, object], path: Path) -> Any:
    """Returns the value at a path; None if it is absent."""
    found: Any = document
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _set(document: Document, path: Path, value: object) -> None:
    for key in path[:-1]:
        document = part(document, key)
    document[path[-1]] = value
