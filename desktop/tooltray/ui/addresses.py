"""Addresses that the user may open: where they lead, and whether they are pages of the web."""

from PySide6.QtCore import QUrl

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def host_of(url: QUrl) -> str:
    """Returns the host that will be reached, with its port; letters beyond ASCII are written in Punycode, so that no host looks like
    another.
    """
    host = url.host(QUrl.ComponentFormattingOption.FullyEncoded)
    return f"{host}:{url.port()}" if url.port() != -1 else host


def is_of_other_letters(url: QUrl) -> bool:
    """Returns whether a name in the host has letters beyond ASCII, which can be mistaken for others (written in Punycode)."""
    host = url.host(QUrl.ComponentFormattingOption.FullyEncoded).lower()
    return any(name.startswith("xn--") for name in host.split("."))


def can_follow(url: QUrl) -> bool:
    """Returns whether a URL is a web page, and not a file, a script or a program's own scheme."""
    return url.isValid() and url.scheme() in ("http", "https") and bool(url.host())
