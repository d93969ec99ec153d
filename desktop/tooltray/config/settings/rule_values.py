"""What may be written in a rule on arguments, and in what it covers: words of commands, hosts, addresses, folders. Pure.

Only what is known to be harmless is accepted: anything that a shell, a URL parser or a file system may read in two ways is not, and a
call that contains it asks.
"""

import ipaddress
import os
import re
from typing import NamedTuple

PROJECT = "{project}"
"""A folder in rules: the project of the session."""
LONGEST_HOST = 253  # characters, as DNS has it
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
"""The schemes of addresses, and the port of each that need not be named."""
USUAL_PORTS = frozenset(PORTS.values())

_PLAIN_WORD = re.compile(r"(?:[A-Za-z0-9_./:@,+=-]|[^\x00-\x7f])+")
_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*", re.ASCII)
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:]+\]|[^\s:/?#@\[\]]+)(?::([0-9]{1,5}))?", re.ASCII)
_ADDRESS = re.compile(r"([A-Za-z]+)://([^\s/?#@\\]+)((?:/[A-Za-z0-9._~:/?#@!&*+,=%\[\]-]*)?)", re.ASCII)
_QUERY_ALONE = re.compile(r"([A-Za-z]+)://([^\s/?#@\\]+)(\?[A-Za-z0-9._~:/?!&*+,=%\[\]-]*)", re.ASCII)


def is_plain_word(word: str) -> bool:
    """Returns whether a word of a command means itself in every shell: no quotation marks, variables, patterns, redirections, blanks."""
    return (
        bool(_PLAIN_WORD.fullmatch(word))
        and not word.startswith("=")
        and (word.isascii() or all(sign.isascii() or sign.isalnum() for sign in word))
    )


class Host(NamedTuple):
    """A host and its port; 0: the ports that addresses need not name."""

    name: str
    port: int = 0


def read_host(text: str) -> Host | None:
    """Reads a host as users write it, `example.org` or `example.org:8443`; None if it is not a host, or could be read in two ways.

    Names are DNS names in plain letters; an IP address counts only in its one usual spelling.
    """
    if not (found := _HOST_AND_PORT.fullmatch(text)) or len(found[1]) > LONGEST_HOST:
        return None
    port = int(found[2] or 0)
    if found[2] is not None and not 0 < port <= 65535:
        return None
    name = found[1].lower()
    if not (_NAME.fullmatch(name) and not _looks_like_number(name)) and not _is_usual_ip(name):
        return None
    return Host(name, 0 if port in USUAL_PORTS else port)


def _looks_like_number(name: str) -> bool:
    """Returns whether the last part of a name is a number: `0x7f.1` and `127.1` are addresses to many programs."""
    last = name.rpartition(".")[2]
    return last.isdigit() or bool(re.fullmatch(r"0x[0-9a-f]*", last))


def _is_usual_ip(name: str) -> bool:
    try:
        if name.startswith("["):
            return str(ipaddress.IPv6Address(name[1:-1])) == name[1:-1]
        return str(ipaddress.IPv4Address(name)) == name
    except ValueError:
        return False


def is_below(host: str, pattern: str) -> bool:
    """Returns whether a rule's pattern covers a host: the same host, or one below `*.example.org`."""
    return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1 if pattern.startswith("*.") else host == pattern


def read_pattern(text: str) -> Host | None:
    """Reads a host of a rule: as `read_host`, or `*.` and a name of at least two parts; None if it is neither."""
    if not text.startswith("*."):
        return read_host(text)
    below = read_host(text[2:])
    is_name = below is not None and "." in below.name and not _is_usual_ip(below.name)
    return Host(f"*.{below.name}", below.port) if below and is_name else None


def host_of(value: str) -> Host | None:
    """Returns the host of an address, or the host that a text is; None if it has none, or parsers could disagree about it."""
    found = _ADDRESS.fullmatch(value) or _QUERY_ALONE.fullmatch(value)
    if found is None:
        return read_host(value)
    usual = PORTS.get(found[1].lower())
    host = read_host(found[2])
    return host if usual and host else None


def is_folder(text: str) -> bool:
    """Returns whether a rule can name this as a folder: a whole path, one from the home folder, or `{project}` and folders below it."""
    if text == PROJECT or text.startswith(f"{PROJECT}/"):
        return "\0" not in text and ".." not in re.split(r"[/\\]", text)
    is_whole = os.path.isabs(text) or text == "~" or text.startswith(("~/", "~\\"))
    return is_whole and "\0" not in text and ".." not in re.split(r"[/\\]", text)
