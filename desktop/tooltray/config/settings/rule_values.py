"""What may stand in a rule on arguments, and in what it covers: words of commands, hosts, addresses, folders. Pure.

Above it: call_rule, which checks a rule, and the evaluation of rules. Below it: nothing. Everything here is a list of what is known to be
harmless: whatever a shell, a URL parser or a file system may read in two ways is in none of them, and a call that has it asks.
"""

import ipaddress
import os
import re
from typing import NamedTuple

PROJECT = "{project}"
"""As a folder: the project of the session."""
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
    """Whether a word of a command means itself in every shell: no quotation marks, variables, patterns, redirections, blanks, home."""
    return (
        bool(_PLAIN_WORD.fullmatch(word))
        and not word.startswith("=")
        and (word.isascii() or all(sign.isascii() or sign.isalnum() for sign in word))
    )


class Host(NamedTuple):
    """A host, and a port of it; 0: those that addresses need not name."""

    name: str
    port: int = 0


def read_host(text: str) -> Host | None:
    """A host as people write it, `example.org` or `example.org:8443`; None: it is none, or could be read in two ways.

    Names are those of DNS in plain letters; addresses of IP count in their one usual spelling alone.
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
    """`0x7f.1` and `127.1` are addresses to many programs: the last part of a name is no number."""
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
    """Whether a host is what a rule names: the same, or of `*.example.org` one below it."""
    return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1 if pattern.startswith("*.") else host == pattern


def read_pattern(text: str) -> Host | None:
    """A host of a rule: as `read_host`, or `*.` and a name of at least two parts; None: it is none."""
    if not text.startswith("*."):
        return read_host(text)
    below = read_host(text[2:])
    is_name = below is not None and "." in below.name and not _is_usual_ip(below.name)
    return Host(f"*.{below.name}", below.port) if below and is_name else None


def host_of(value: str) -> Host | None:
    """The host of an address or the host that a text is; None: it has none, or parsers could disagree on which."""
    found = _ADDRESS.fullmatch(value) or _QUERY_ALONE.fullmatch(value)
    if found is None:
        return read_host(value)
    usual = PORTS.get(found[1].lower())
    host = read_host(found[2])
    return host if usual and host else None


def is_folder(text: str) -> bool:
    """Whether a rule can name this as a folder: the whole path, one from the home folder, or `{project}` and what is below it."""
    if text == PROJECT or text.startswith(f"{PROJECT}/"):
        return "\0" not in text and ".." not in re.split(r"[/\\]", text)
    is_whole = os.path.isabs(text) or text == "~" or text.startswith(("~/", "~\\"))
    return is_whole and "\0" not in text and ".." not in re.split(r"[/\\]", text)
