"""What a set-up carries besides servers: which settings, what taking them over changes, and the change itself.

Above it: Setup. Below it: the settings' models. Pure functions over documents; knows no file and no running server.

Not carried is what belongs to a machine: how AI clients get in over HTTP, where secrets are, which folders may be projects, and whether all
is paused.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tooltray.errors import TooltrayError
from tooltray.settings.migrations import Document
from tooltray.settings.server_config import shown_url
from tooltray.settings.settings import Settings, read_settings
from tooltray.snapshots.setup import SetupChange

Path = tuple[str, ...]

WHOLE: tuple[Path, ...] = (
    *(("autoDetectNpmRegistry",), ("npmRegistries",), ("customNpmRegistry",), ("readyAnswers",)),
    *(("publish", "naming"), ("publish", "lazyLoad"), ("publish", "mode"), ("publish", "feedback")),
)
BY_NAME: tuple[Path, ...] = (("profiles",), ("publish", "clients"))
"""Of these each member is taken over for itself: a profile from elsewhere comes beside those that are here."""
SHORTEST_KNOWN = 6  # characters of a secret that is looked for in ready answers; shorter ones stand in harmless words


def exported(settings: Settings, document: Document, known: Collection[str]) -> dict[str, Any]:
    """What of the settings goes into a set-up, in the form of the settings.

    Args:
        document: as it stands in the file; only what somebody has written is carried.
        known: values of secrets, which are in nothing that is carried.
    """
    readable = settings.model_dump(mode="json", by_alias=True, exclude_none=True)
    as_given = settings.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    made: dict[str, Any] = {}
    for path in (*WHOLE, *BY_NAME):
        value = _at(readable if len(path) == 1 and path not in BY_NAME else as_given, path)
        if value not in (None, {}) and _at(document, path) is not None:
            _set(made, path, _harmless(value, [secret for secret in known if len(secret) >= SHORTEST_KNOWN]))
    return made


def check(setup: Mapping[str, Any]) -> None:
    """
    Raises:
        TooltrayError: a setting in a set-up cannot be used; says which and why.
    """
    carried: dict[str, Any] = {}
    for path in (*WHOLE, *BY_NAME):
        if (value := _at(setup, path)) is not None:
            _set(carried, path, value)
    publish = setup.get("publish")
    for problem in read_settings(carried if isinstance(publish, Mapping) else {**carried, "publish": publish}).problems:
        raise TooltrayError("A setting in this backup cannot be used", problem.message, "Correct it in the file; nothing was changed.")


def changes(setup: Mapping[str, Any], document: Document, *, replace: bool) -> Iterator[SetupChange]:
    """What taking over the settings of a set-up that was checked would do."""
    for path in _paths(setup):
        given, here = _at(setup, path), _at(document, path)
        if given != here:
            kind = "add" if here is None else "replace" if replace else "keep"
            yield SetupChange(kind, "setting", ".".join(path), _in_words(path, given))


def apply(change: SetupChange, setup: Mapping[str, Any], document: Document) -> None:
    """Makes one of these changes."""
    path = next(path for path in _paths(setup) if ".".join(path) == change.name)
    _set(document, path, _at(setup, path))


def _paths(setup: Mapping[str, Any]) -> Iterator[Path]:
    yield from (path for path in WHOLE if _at(setup, path) is not None)
    for path in BY_NAME:
        yield from ((*path, name) for name, value in (_at(setup, path) or {}).items() if value is not None)


def _in_words(path: Path, value: Any) -> str:
    """Of an AI client: what its calls may do unasked, which a person has to look at in a file from elsewhere."""
    rules = value.get("autoApprove") if path[:-1] == ("publish", "clients") else None
    return "" if rules is None else f"approved without asking: {', '.join(rules) or 'nothing'}"


def _harmless(value: Any, known: Collection[str]) -> Any:
    """A setting without user names and passwords in URLs, and without texts in which a secret stands."""
    if isinstance(value, str):
        return shown_url(value) if "://" in value else value
    if isinstance(value, list):
        kept = [each for each in value if not (isinstance(each, str) and any(secret in each for secret in known))]
        return [{**each, "url": shown_url(each["url"])} if isinstance(each, Mapping) else each for each in kept]
    return value


def _at(document: Mapping[str, Any], path: Path) -> Any:
    """None: there is nothing."""
    found: Any = document
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _set(document: dict[str, Any], path: Path, value: Any) -> None:
    for key in path[:-1]:
        if not isinstance(document.get(key), dict):
            document[key] = {}
        document = document[key]
    document[path[-1]] = value
