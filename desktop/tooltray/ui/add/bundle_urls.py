"""Which dropped or chosen files are bundles, judged only by their names: reading them is the engine's work."""

from collections.abc import Sequence

from PySide6.QtCore import QUrl

ENDINGS = (".mcpb", ".dxt")
"""How files with bundles end."""


def is_bundle(name: str) -> bool:
    """Returns whether a file's name or an address's path has the ending of a bundle."""
    return name.lower().endswith(ENDINGS)


def bundle_of_urls(urls: Sequence[QUrl]) -> str:
    """Returns the first bundle among what was dropped: a path, or an address of the web; empty without one."""
    for url in urls:
        if url.isLocalFile() and is_bundle(url.toLocalFile()):
            return url.toLocalFile()
        if url.scheme() == "https" and is_bundle(url.path()):
            return url.toString()
    return ""
