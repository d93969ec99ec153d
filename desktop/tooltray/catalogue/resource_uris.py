"""The URIs by which AI clients see the resources of several servers, and the server that a URI means.

A URI stays as its server wrote it, unless another server lists the same one: then it is published as `tooltray://{server}/{the URI,
percent-escaped}`, for both. Views of MCP Apps have to begin with `ui://` for the apps that show them: they become `ui://{server}/{the URI,
percent-escaped}`, even if no list has them and only tools name them. A URI that a server itself has written in this form is escaped once
more, so that every URI has one meaning. The same holds for templates; their expressions stay, so that AI clients can fill them in. URIs
with `skill://` have rules of their own, see SkillUris. One set of rules belongs to one state of all lists and never changes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from urllib.parse import quote, unquote

import msgspec

from tooltray.catalogue.offer import RESOURCES, TEMPLATES
from tooltray.catalogue.offers import Offers
from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.naming.tool_settings import as_compared
from tooltray.foundation.events import Event, EventBus, ResourceListChanged
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.uri_template import UriTemplate
from tooltray.servers.upstream.server_manager import ServerManager

SCHEME = "skill://"

Place = tuple[str, str]
"""A server's name, and the first part of its URIs."""


class SkillUris:
    """The published `skill://` URIs. Belongs to the engine's loop.

    A URI of this scheme belongs to its first part, `acme` in `skill://acme/refunds/SKILL.md`. The first server with such a part keeps it
    forever; a later server gets `skill://SERVER/acme/refunds/SKILL.md`. So the folders of a skill stay together, links in it stay valid,
    and no server can replace another one's skill.
    """

    def __init__(self, *, servers: ServerManager, names: PublishedNames) -> None:
        self._servers, self._names = servers, names
        self._given = 0

    @property
    def state(self) -> tuple[int, int]:
        """A value that changes whenever URIs may have changed; read with every call."""
        return self._given, self._servers.changes

    def published(self, server: str, uri: str) -> str:
        """Returns the URI by which AI clients know a server's URI of this scheme."""
        return uri if self._is_own(server, first_part(uri)) else prefixed(server, uri)

    def target(self, uri: str) -> Place | None:
        """Returns the server, and its own URI, for a published URI; None if its first part was given to no server."""
        label, _, rest = uri.removeprefix(SCHEME).partition("/")
        server = self._server(unquote(label, errors="replace"))
        if server and rest and not self._is_own(server, first_part(rest)):
            return server, SCHEME + rest
        holder = self._names.holder(label, kind="skills")
        return (holder[0], uri) if holder and self._servers.find(holder[0]) else None

    async def give(self, uris: Iterable[tuple[str, str]]) -> None:
        """Gives servers their first parts, on disk before this returns. `uris`: a server's name and its own URI each."""
        places = {(server, first_part(uri)) for server, uri in uris if uri.startswith(SCHEME)}
        if any(self._names.known(place, kind="skills") is None for place in places):
            await finish_in_thread(self._names.publish, sorted(places), kind="skills")
            self._given += 1

    async def forget(self) -> None:
        """Drops all first parts; new ones are given at the next list request."""
        await finish_in_thread(self._names.reset, kind="skills")
        self._given += 1

    def _is_own(self, server: str, part: str) -> bool:
        """Reports whether a server's URIs stay unchanged. A first part that is another server's name would be taken for that server's
        prefix.
        """
        if any(as_compared(each.name) == as_compared(part) and each.name != server for each in self._servers):
            return False
        holder = self._names.holder(part, kind="skills")
        if self._names.known((server, part), kind="skills") is None:  # not given yet
            return holder is None
        return holder == (server, part)

    def _server(self, name: str) -> str | None:
        """Returns the server of a name; some clients write the part after `//` in lower case."""
        known = {server.name.lower(): server.name for server in self._servers}
        return name if self._servers.find(name) else known.get(name.lower())


def prefixed(server: str, uri: str) -> str:
    """Returns a URI, or a template, of this scheme with the name of its server as its first part."""
    return f"{SCHEME}{quote(server, safe='', errors='surrogatepass')}/{uri.removeprefix(SCHEME)}"


def first_part(uri: str) -> str:
    """Returns `acme` for `skill://acme/refunds/SKILL.md`."""
    return uri.removeprefix(SCHEME).partition("/")[0]


PREFIX = "tooltray://"
VIEW_PREFIX = "ui://"  # MCP Apps, 2026-01-26: URIs of views must begin so

Target = tuple[str, str]
"""A server's name and its own URI."""

_escaped = partial(quote, safe="", errors="surrogatepass")


class _Template(msgspec.Struct, frozen=True):
    server: str
    own: UriTemplate
    published: UriTemplate

    @property
    def is_contested(self) -> bool:
        return self.published is not self.own


class ResourceUris:
    def __init__(
        self,
        uris: Mapping[str, Iterable[str]],
        templates: Mapping[str, Iterable[str]],
        *,
        views: Mapping[str, Iterable[str]] | None = None,
        skills: SkillUris | None = None,
    ) -> None:
        """
        Args:
            uris, templates: what each server lists. If a URI could mean several servers, the first of them is used.
            views: the URIs that tools of each server name as their views, whether they are listed or not.
            skills: the rules for URIs with `skill://`; None: these are treated as any other URI.
        """
        self._skills = skills
        known = {server: dict.fromkeys(listed) for server, listed in uris.items()}
        for server, named in (views or {}).items():
            known.setdefault(server, {}).update(dict.fromkeys(named))
        names = [*dict.fromkeys([*known, *templates])]
        self._case_counts = Counter(server.lower() for server in names)
        self._servers = frozenset(names)
        self._written_small = {server.lower(): server for server in names if self._case_counts[server.lower()] == 1}
        self._owners = _owners(known)
        self._template_owners = _owners(templates)
        self._targets = {self.published_uri(server, uri): (server, uri) for server, listed in known.items() for uri in listed}
        self._templates = [self._template(server, text) for server, listed in templates.items() for text in listed]
        self._contested_templates = [each for each in self._templates if each.is_contested]

    def published_uri(self, server: str, uri: str) -> str:
        """Returns the URI by which AI clients know a server's resource, listed or not; the reverse of `targets`."""
        if self._skills and uri.startswith(SCHEME):
            return self._skills.published(server, uri)
        if server in (owners := self._owners.get(uri, ())):
            return uri if len(owners) == 1 and self._parsed(uri) is None else self._published(server, uri)
        for template in self._contested_templates:
            if template.server == server and (values := template.own.match(uri)) is not None:
                return template.published.expanded(values)
        first = next(self.targets(uri), None)
        return uri if first in (None, (server, uri)) else self._published(server, uri)

    def is_contested(self, uri: str) -> bool:
        """Reports whether several servers have a URI, so that the URI does not identify its server."""
        return len(self._owners.get(uri, ())) > 1

    def published_template(self, server: str, template: str) -> str:
        """Returns the text by which AI clients know a server's template."""
        return self._template(server, template).published.text

    def targets(self, uri: str) -> Iterator[Target]:
        """Yields the possible targets of a URI, the likeliest first; empty if no server has listed the URI or a template for it."""
        if self._skills and uri.startswith(SCHEME) and (found := self._skills.target(uri) or self._filled_in(uri)):
            yield found
        elif target := self._targets.get(uri) or self._filled_in(uri) or self._parsed(uri):
            yield target
        elif uri.startswith(PREFIX):
            return
        elif owners := self._owners.get(uri):
            yield from ((server, uri) for server in owners)
        else:
            servers = (template.server for template in self._templates if template.own.match(uri) is not None)
            yield from ((server, uri) for server in dict.fromkeys(servers))

    def template_target(self, text: str) -> Target | None:
        """Returns the server of a published template, and the server's own text."""
        found = (template for template in self._templates if text in (template.published.text, template.own.text))
        return next(((template.server, template.own.text) for template in found), None)

    def _template(self, server: str, text: str) -> _Template:
        own = UriTemplate(text)
        is_contested = any(owner != server for owner in self._template_owners.get(text, ()))
        if is_contested and self._skills and text.startswith(SCHEME):
            return _Template(server, own, UriTemplate(prefixed(server, text)))
        return _Template(server, own, own.changed(_escaped, prefix=self._beginning(server, text)) if is_contested else own)

    def _filled_in(self, uri: str) -> Target | None:
        """Returns the target of a URI from a template that several servers list."""
        for template in self._contested_templates:
            if (values := template.published.match(uri)) is not None:
                return template.server, template.own.expanded(values)
        return None

    def _parsed(self, uri: str) -> Target | None:
        """Returns the target of a published URI whose resource is not listed, or not any more: a client may have kept the URI."""
        prefix = VIEW_PREFIX if uri.startswith(VIEW_PREFIX) else PREFIX
        if not uri.startswith(prefix):
            return None
        name, _, rest = uri.removeprefix(prefix).partition("/")
        own = _unescaped(rest)
        if prefix == VIEW_PREFIX and ("/" in rest or not own.startswith(VIEW_PREFIX)):
            return None  # not a published URI, but as its server wrote it
        name = _unescaped(name)
        server = name if name in self._servers else self._written_small.get(name.lower())  # some clients write this part in lower case
        return (server, own) if server else None

    def _published(self, server: str, uri: str) -> str:
        return self._beginning(server, uri) + _escaped(uri)

    def _beginning(self, server: str, uri: str) -> str:
        name = _escaped(server)
        if self._case_counts[server.lower()] > 1:  # a client that writes lower case must not turn one name into the other
            name = "".join(f"%{ord(each):02X}" if each.isascii() and each.isupper() else _escaped(each) for each in server)
        return f"{VIEW_PREFIX if uri.startswith(VIEW_PREFIX) else PREFIX}{name}/"


def _owners(lists: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    owners: dict[str, list[str]] = {}
    for server, listed in lists.items():
        for each in listed:
            owners.setdefault(each, []).append(server)
    return owners


def _unescaped(text: str) -> str:
    try:
        return unquote(text, errors="surrogatepass")
    except UnicodeDecodeError:  # not escaped by this module
        return unquote(text, errors="replace")


class ViewsMoved(Event, frozen=True):
    """An event: views of these servers have other URIs than before."""

    servers: frozenset[str]


class PublishedUris:
    """The present URIs of all resources. Belongs to the engine's loop. When another server lists a URI, the lists of the first one change
    too, although it has announced nothing.
    """

    def __init__(self, *, offers: Offers, bus: EventBus, skill_uris: SkillUris) -> None:
        self._offers, self._bus, self._skills = offers, bus, skill_uris
        self._views: dict[str, tuple[str, ...]] = {}  # by server: the view URIs that its tools name
        self._changes = 0  # of these
        self._made_at: tuple[object, ...] = ()
        self._made = ResourceUris({}, {})
        self._moved: frozenset[tuple[str, str]] = frozenset()
        bus.subscribe(ResourceListChanged, lambda event: self._tell_moved())

    @property
    def state(self) -> tuple[object, ...]:
        """A value that changes whenever `now` changes; read with every call."""
        return self._offers.resource_changes, self._changes, self._skills.state

    @property
    def view_servers(self) -> frozenset[str]:
        """The servers whose tools name views."""
        return frozenset(self._views)

    @property
    def now(self) -> ResourceUris:
        """The rules for all lists that are known now."""
        if self._made_at != (state := self.state):
            resources, templates = self._offers.offered(RESOURCES), self._offers.offered(TEMPLATES)
            self._made = ResourceUris(
                {server: [offer.key for offer in offered] for server, offered in resources.items()},
                {server: [offer.key for offer in offered] for server, offered in templates.items()},
                views=self._views,
                skills=self._skills,
            )
            self._made_at = state
        return self._made

    def name_views(self, server: str, uris: Iterable[str]) -> None:
        """Replaces the URIs that a server's tools name as their views."""
        named = tuple(dict.fromkeys(uris))
        if named != self._views.get(server, ()):
            self._views[server] = named
            if not named:
                del self._views[server]
            self._changes += 1
            self._tell_moved()

    def _tell_moved(self) -> None:
        before, self._moved = self._moved, frozenset(self._moved_views())
        if servers := frozenset(server for server, _ in before ^ self._moved):
            self._bus.publish(ViewsMoved(servers))
            for server in sorted(servers):
                self._bus.publish(ResourceListChanged(server))

    def _moved_views(self) -> Iterator[tuple[str, str]]:
        """Yields the views, with their servers, that are published under another URI than their server's own."""
        listed = [(server, offer.key) for server, offered in self._offers.offered(RESOURCES).items() for offer in offered]
        named = [(server, uri) for server, uris in self._views.items() for uri in uris]
        for server, uri in {*listed, *named}:
            if uri.startswith(VIEW_PREFIX) and self.now.published_uri(server, uri) != uri:
                yield server, uri
