"""The raw document of `settings.json`: its type, its version, and its migration from earlier versions, one step per version.

The steps work on the raw document, so that unknown fields stay; the settings file keeps a copy of the file before they run.
"""

from collections.abc import Callable, Mapping

Document = dict[str, object]
"""A JSON object; values are what `files.json_text` reads."""
Edit = Callable[[Document], None]
"""Changes a document in place; raises TooltrayError if the result could not be used."""


def part(holder: dict[str, object], key: str) -> dict[str, object]:
    """Returns the object at a key; a new one replaces anything else."""
    found = holder.get(key)
    if not isinstance(found, dict):
        found = holder[key] = {}
    return found


def members(holder: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Returns the object at a key, for reading; empty if it does not exist."""
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
