"""The raw document of `settings.json`: its type, its version, and its migration from earlier versions, one step per version.

Above it: the settings file, which keeps a copy of the file before the steps run, and every module with edits. Below it: nothing. Works on
the raw document, so that unknown fields stay.
"""

from collections.abc import Callable, Mapping

Document = dict[str, object]
"""A JSON object; values are what `files.json_text` reads."""
Edit = Callable[[Document], None]
"""Changes a document in place; raises TooltrayError where the result could not be used."""


def part(holder: dict[str, object], key: str) -> dict[str, object]:
    """The object at a key; a new one replaces anything else."""
    found = holder.get(key)
    if not isinstance(found, dict):
        found = holder[key] = {}
    return found


def members(holder: Mapping[str, object], key: str) -> Mapping[str, object]:
    """The object at a key, for reading; empty if there is none."""
    found = holder.get(key)
    return found if isinstance(found, dict) else {}


def _add_version(document: Document) -> None:
    """0 -> 1: a file without `version`: `mcpServers`, `defaultServers`, `mcpEnabled`, or the still older `defaultServer` (one name)."""
    older = document.pop("defaultServer", None)
    if isinstance(older, str) and "defaultServers" not in document:
        document["defaultServers"] = [older]


STEPS: tuple[Callable[[Document], None], ...] = (_add_version,)
CURRENT_VERSION = len(STEPS)


def version_of(document: Document) -> int:
    """The version a document says it has; 0 if it says none, or nothing that could be one."""
    version = document.get("version")
    return version if isinstance(version, int) and not isinstance(version, bool) and version > 0 else 0


def migrate(document: Document) -> Document:
    """A document of today made from an older one; the older one may be changed by this."""
    for step in STEPS[version_of(document) :]:
        step(document)
    return {"version": CURRENT_VERSION} | {key: value for key, value in document.items() if key != "version"}
