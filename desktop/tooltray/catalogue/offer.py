"""The kinds of lists that servers offer, and one prompt, resource or resource template as its server listed it. Definitions are read where
the hub needs a fact and otherwise carried as bytes; definition.py has those for tools.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Raw

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.snapshots.servers import LEFT_OUT, MENDED
from tooltray.protocol import definition_mending as mending
from tooltray.protocol.definition_mending import Mend
from tooltray.protocol.definition_shapes import Named, Prompt, Resource, Template, decoded
from tooltray.protocol.envelope import NOTHING, dump, load
from tooltray.protocol.member_scanner import closed, opened

MAX_REMARKS = 20  # about one list


class OfferKind(msgspec.Struct, frozen=True):
    """One kind of list.

    Attributes:
        name: for records and file names.
        method: the request for the list.
        member: of the list's result.
        key: the member that identifies a definition.
        capability: the capability by which a server declares such lists.
        changed: the notification that the list has changed.
        is_always_asked: a server is asked for this list even if it does not declare it.
        is_extension: the capability is declared among the extensions.
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
        """Returns what a server's greeting declares about such lists; None if it declares nothing."""
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

_URI = lazy_pattern(  # most URIs; others are checked in detail
    r"(?!.*xn--)(?:https?://(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*(?:/.*)?|file:///.*"
    r"|(?!https?:|wss?:|ftp:|file:)[a-z][a-z0-9+.-]*:(?://[a-z0-9_.-]*(?:/.*)?|(?!//).*))",
    re.DOTALL | re.IGNORECASE | re.ASCII,
)
_SHAPES: Mapping[OfferKind, tuple[msgspec.json.Decoder[Named], Mapping[str, Mend]]] = {
    PROMPTS: (msgspec.json.Decoder(Prompt), mending.PROMPT),
    RESOURCES: (msgspec.json.Decoder(Resource), mending.RESOURCE),
    TEMPLATES: (msgspec.json.Decoder(Template), mending.TEMPLATE),
}


class Offer(msgspec.Struct, frozen=True):
    """One prompt, resource or resource template.

    Attributes:
        key: the server's own name, URI or URI template.
        raw: the whole definition, verbatim.
        published: the definition as AI clients may see it: verbatim, unless a client that checks definitions would refuse the whole list
            because of it.
        is_held: no client that checks definitions could read it, so it is left out of the lists of all servers.
    """

    key: str
    raw: Raw
    published: Raw
    is_held: bool = False

    @property
    def flaw(self) -> str:
        """LEFT_OUT, MENDED, or empty."""
        return LEFT_OUT if self.is_held else MENDED if self.published is not self.raw else ""

    def renamed(self, kind: OfferKind, key: str) -> Raw:
        """Returns the definition under another name or URI, all other members verbatim and in their order."""
        return self.published if key == self.key else closed({**opened(self.published), kind.key: dump(key)})


def read_offers(kind: OfferKind, raws: Iterable[Raw]) -> tuple[tuple[Offer, ...], list[str]]:
    """Returns the usable definitions of a server's list, in its order, each key once; and remarks on those left out, one sentence each."""
    offers: dict[str, Offer] = {}
    remarks: list[str] = []
    for place, raw in enumerate(raws, 1):
        offer, flaws = _read(kind, raw)
        if offer is None:
            remarks.append(f"{kind.name}: number {place} of the list is left out: it has no {kind.key} that is a string")
        elif offer.key in offers:
            remarks.append(f"{kind.name}: number {place} of the list is left out: {offer.key!r} is already in the list")
        else:
            offers[offer.key] = offer
            remarks += [f"{kind.name}: {offer.key!r}: {flaw}" for flaw in flaws]
    return tuple(offers.values()), bounded(kind, remarks)


def bounded(kind: OfferKind, remarks: list[str]) -> list[str]:
    """Returns the first MAX_REMARKS of the remarks about a list, and how many more there are."""
    if len(remarks) <= MAX_REMARKS:
        return remarks
    return [*remarks[:MAX_REMARKS], f"{kind.name}: and {len(remarks) - MAX_REMARKS} more remarks"]


def listing_of(kind: OfferKind, definitions: Iterable[Raw]) -> Raw:
    """Returns the result of a list request, in one page."""
    return Raw(b'{"%b":[%b]}' % (kind.member.encode(), b",".join(bytes(each) for each in definitions)))


def _read(kind: OfferKind, raw: Raw) -> tuple[Offer | None, Sequence[str]]:
    """Reads one definition in one pass; a definition that not every client can read is checked in detail."""
    decoder, mends = _SHAPES[kind]
    good = decoded(decoder, raw)
    if good is not None and mending.is_text_for_all(bytes(raw)) and not (fault := _key_fault(kind, key := _key_of(good))):
        return Offer(key, raw, raw), ()
    try:
        members = opened(raw)
        key = load(members.get(kind.key, NOTHING))
    except ValueError:
        return None, ()
    if not isinstance(key, str):
        return None, ()
    mended = mending.mended(raw, mends, {"name": dump(key)})
    if fault := _key_fault(kind, key):
        return Offer(key, raw, mended.raw, is_held=True), (f"it is left out of the lists of all servers: {fault}", *mended.flaws)
    return Offer(key, raw, mended.raw), mended.flaws


def _key_of(definition: Named) -> str:
    if isinstance(definition, Resource):
        return definition.uri
    return definition.uri_template if isinstance(definition, Template) else definition.name


def _key_fault(kind: OfferKind, key: str) -> str:
    """Returns why no client could use a definition by its key; empty if clients can."""
    if kind is PROMPTS:
        return ""  # AI clients get another name
    if not key.isascii() and not _is_whole(key):
        return f"its {kind.key} has half of a surrogate pair in it"
    if kind is RESOURCES and not (_URI.fullmatch(key) or _is_uri(key)):
        return 'its uri is invalid; it must begin with a scheme, such as "file:///"'
    return ""


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_uri(text: str) -> bool:
    """Reports whether the Python SDK 1.x accepts a text as the URI of a resource."""
    from pydantic_core import Url  # takes long to import, and few servers need it

    try:
        Url(text)
    except ValueError:
        return False
    return True
