"""Reads names and addresses in messages to and from a resolver: DNS messages, and those of systemd-resolved's own socket. A message may
come from anywhere, so an invalid one has no name."""

import ipaddress
import re
import struct

MOST_RECORDS = 64
LONGEST_NAME = 253
POINTER, A, AAAA = 0xC0, 1, 28
_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_ASKED_RESOLVED = re.compile(rb'"name"\s*:\s*"([^"\\]{1,253})"')
_RESOLVED_ADDRESS = re.compile(rb'"address"\s*:\s*\[([\d,\s]{7,64})\]')


def question(message: bytes) -> str:
    """Returns the name that a DNS message asks for, in lower case without a final dot; empty: it asks for no name."""
    if len(message) < 12 or struct.unpack_from(">H", message, 4)[0] != 1:
        return ""
    name, _ = _name_at(message, 12)
    return checked(name)


def addresses(message: bytes) -> tuple[str, ...]:
    """Returns the addresses in a DNS answer."""
    if len(message) < 12:
        return ()
    count = min(struct.unpack_from(">H", message, 6)[0], MOST_RECORDS)
    _, at = _name_at(message, 12)
    at += 4
    found = []
    for _ in range(count):
        _, at = _name_at(message, at)
        if at + 10 > len(message):
            break
        kind, _, _, length = struct.unpack_from(">HHIH", message, at)
        data, at = message[at + 10 : at + 10 + length], at + 10 + length
        if (kind, len(data)) in ((A, 4), (AAAA, 16)):
            found.append(str(ipaddress.ip_address(data)))
    return tuple(found)


def question_to_resolved(message: bytes) -> str:
    """Returns the name that a call of systemd-resolved asks for; empty: it asks for no name."""
    found = _ASKED_RESOLVED.search(message)
    return checked(found[1].decode("ascii", "replace")) if found else ""


def addresses_of_resolved(message: bytes) -> tuple[str, ...]:
    """Returns the addresses in an answer of systemd-resolved: lists of bytes."""
    found = []
    for each in _RESOLVED_ADDRESS.finditer(message):
        try:
            found.append(str(ipaddress.ip_address(bytes(int(part) for part in each[1].split(b",")))))
        except ValueError:
            continue
    return tuple(found)


def checked(name: str) -> str:
    """Returns a name in a form that settings accept; empty: it is not valid."""
    name = name.lower().rstrip(".")
    return name if len(name) <= LONGEST_NAME and _NAME.fullmatch(name) else ""


def _name_at(message: bytes, at: int) -> tuple[str, int]:
    """Returns a name and the index where the message continues; the name is empty if it is malformed. An end that points elsewhere is left
    out."""
    labels: list[str] = []
    while at < len(message):
        length = message[at]
        if length == 0:
            return ".".join(labels), at + 1
        if length & POINTER:
            return ".".join(labels), at + 2
        labels.append(message[at + 1 : at + 1 + length].decode("ascii", "replace"))
        at += 1 + length
    return "", len(message)
