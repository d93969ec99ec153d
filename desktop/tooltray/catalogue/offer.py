"""What servers offer: the kinds there are, and one prompt, resource or resource template as its server listed it.

Above it: ServerLists, Offers, and the managers of prompts and resources. Below it: protocol. Definitions are read where the hub has to know
something and otherwise carried as bytes; those of tools are in definition.py. Knows nothing of servers and of how names are made.
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING, dump, load
from tooltray.protocol.member_scanner import closed, opened

MAX_REMARKS = 20  # about one list


class OfferKind(msgspec.Struct, frozen=True):
    """
    Attributes:
        name: for records and file names.
        method: what lists it.
        member: of the list's result.
        key: the member of a definition that tells one from another.
        capability: with which a server declares that it has such lists.
        changed: the notification that the list is another one now.
        is_always_asked: also a server that does not declare it is asked for its list.
        is_extension: it is declared among the extensions.
    """

    name: str
    method: str
    member: str
    key: str
    capability: str
    changed: str
    is_always_asked: bool = False
    is_extension: bool = False

    def declared(self, capabilities: Mapping[str, object]) -> object:
        """What a server says of such lists in its greeting; None where it has none."""
        among = capabilities.get("extensions") if self.is_extension else capabilities
        said = among.get(self.capability) if isinstance(among, Mapping) else None
        return None if said is False else said


TOOLS = OfferKind("tools", "tools/list", "tools", "name", "tools", "notifications/tools/list_changed", is_always_asked=True)
PROMPTS = OfferKind("prompts", "prompts/list", "prompts", "name", "prompts", "notifications/prompts/list_changed")
RESOURCES = OfferKind("resources", "resources/list", "resources", "uri", "resources", "notifications/resources/list_changed")
TEMPLATES = OfferKind(
    "templates", "resources/templates/list", "resourceTemplates", "uriTemplate", "resources", "notifications/resources/list_changed"
)
KINDS = (PROMPTS, RESOURCES, TEMPLATES)  # besides tools

_FIRST_BYTES = {
    "title": b'"',
    "description": b'"',
    "mimeType": b'"',
    "arguments": b"[",
    "icons": b"[",
    "annotations": b"{",
    "_meta": b"{",
}
"""How the value of each member of a definition begins, by the specification of 2025-11-25."""


class Offer(msgspec.Struct, frozen=True):
    """
    Attributes:
        key: the server's own name, URI or URI template for it.
        raw: the whole definition, verbatim.
        published: the definition as AI clients may see it: verbatim, unless a client that checks what it gets would refuse the whole list
            because of it.
    """

    key: str
    raw: Raw
    published: Raw

    def renamed(self, kind: OfferKind, key: str) -> Raw:
        """The definition under another name or URI, all other members verbatim and in their order."""
        return self.published if key == self.key else closed({**opened(self.published), kind.key: dump(key)})


def read_offers(kind: OfferKind, raws: Iterable[Raw]) -> tuple[tuple[Offer, ...], list[str]]:
    """What can be used of a server's list, in its order, each key once; and remarks on what was left out, one sentence each."""
    offers: dict[str, Offer] = {}
    remarks: list[str] = []
    for place, raw in enumerate(raws, 1):
        offer = _read(kind, raw)
        if offer is None:
            remarks.append(f"{kind.name}: number {place} of the list is left out: it has no {kind.key} that is a string")
        elif offer.key in offers:
            remarks.append(f"{kind.name}: number {place} of the list is left out: {offer.key!r} stands in it before")
        else:
            offers[offer.key] = offer
    return tuple(offers.values()), bounded(kind, remarks)


def bounded(kind: OfferKind, remarks: list[str]) -> list[str]:
    """The first MAX_REMARKS of the remarks about a list, and how many more there are."""
    if len(remarks) <= MAX_REMARKS:
        return remarks
    return [*remarks[:MAX_REMARKS], f"{kind.name}: and {len(remarks) - MAX_REMARKS} more such remarks"]


def listing_of(kind: OfferKind, definitions: Iterable[Raw]) -> Raw:
    """The result of a list request, in one page."""
    return Raw(b'{"%b":[%b]}' % (kind.member.encode(), b",".join(bytes(each) for each in definitions)))


def _read(kind: OfferKind, raw: Raw) -> Offer | None:
    try:
        members = opened(raw)
        key = load(members.get(kind.key, NOTHING))
    except ValueError:
        return None
    if not isinstance(key, str):
        return None
    mended = _mended(members, key)
    return Offer(key, raw, raw if mended == members else closed(mended))


def _mended(members: Mapping[str, Raw], key: str) -> dict[str, Raw]:
    """Without the members that no client could read, and with the name that every kind has to have."""
    kept = {name: value for name, value in members.items() if name not in _FIRST_BYTES or _begins(value, _FIRST_BYTES[name])}
    if not _begins(kept.get("name", NOTHING), b'"'):
        kept["name"] = dump(key)
    return kept


def _begins(value: Raw, first: bytes) -> bool:
    return bytes(memoryview(value)[:1]) == first
