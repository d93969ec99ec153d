"""The raw document of `settings.json`: its type, its version, and its migration from earlier versions, one step per version.

The steps work on the raw document, so that unknown fields stay; the settings file keeps a copy of the file before they run.
"""

from collections.abc import Callable, Mapping

from tooltray.config.settings.json_kinds import MUST_BE_OBJECT
from tooltray.config.settings.json_model import CORRECT_IT, of_place
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase

NOT_CHANGED = Phrase("The settings are not changed")

Document = dict[str, object]
"""A JSON object; values are what `files.json_text` reads."""
Edit = Callable[[Document], None]
"""Changes a document in place; raises TooltrayError if the result could not be used."""


def part(holder: dict[str, object], key: str) -> dict[str, object]:
    """Returns the object at a key, to be changed, and makes it if it is missing.

    Raises:
        TooltrayError: it is not an object, and stays as it was written.
    """
    if holder.get(key) is None:
        holder[key] = {}
    if not isinstance(found := holder[key], dict):
        raise TooltrayError(NOT_CHANGED, of_place((key,), MUST_BE_OBJECT), CORRECT_IT)
    return found


def texts(document: Document, key: str) -> list[str]:
    """Returns the list of texts at a key, to be changed, and makes it if it is missing.

    Raises:
        TooltrayError: it is something else, and stays as it was written.
    """
    if document.get(key) is None:
        document[key] = []
    found = document[key]
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise TooltrayError(NOT_CHANGED, of_place((key,), Phrase("must be a list of texts")), CORRECT_IT)
    return found


def members(holder: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Returns the object at a key, for reading; empty if it is missing."""
    found = holder.get(key)
    return found if isinstance(found, dict) else {}


def _add_version(document: Document) -> None:
    """Migrates 0 -> 1: a file without `version`: `mcpServers`, `defaultServers`, `mcpEnabled`, or the still older `defaultServer` (one
    name).
    """
    older = document.pop("defaultServer", None)
    if isinstance(older, str) and "defaultServers" not in document:
        document["defaultServers"] = [older]


STEPS: tuple[Callable[[Document], None], ...] = (_add_version,)
CURRENT_VERSION = len(STEPS)


def version_of(document: Document) -> int:
    """Returns the version that a document names; 0 if it names none or an impossible one."""
    version = document.get("version")
    return version if isinstance(version, int) and not isinstance(version, bool) and version > 0 else 0


def migrate(document: Document) -> Document:
    """Returns a document of the current version made from an older one, which may be changed by this."""
    for step in STEPS[version_of(document) :]:
        step(document)
    return {"version": CURRENT_VERSION} | {key: value for key, value in document.items() if key != "version"}
