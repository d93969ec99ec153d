"""The URIs by which AI clients see the resources of several servers, and the server that a URI means.

A URI stays as its server wrote it, unless another server lists the same one: then it is published as `tooltray://{server}/{the URI,
percent-escaped}`, for both. Views of MCP Apps have to begin with `ui://` for the apps that show them: they become `ui://{server}/{the URI,
percent-escaped}`, even if no list has them and only tools name them. A URI that a server itself has written in this form is escaped once
more, so that every URI has one meaning. The same holds for templates; their expressions stay, so that AI clients can fill them in. URIs
with `skill://` have rules of their own, see skill_uris. One set of rules belongs to one state of all lists and never changes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from urllib.parse import quote, unquote

import msgspec

from tooltray.catalogue.skill_uris import SCHEME, SkillUris, prefixed
from tooltray.protocol.uri_template import UriTemplate

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
        """Args:
        uris, templates: what each server lists. The order of the servers counts where a URI could mean several.
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
        """Yields the possible targets of a URI, the likeliest first; none where no server has listed it or a template for it."""
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
            return None  # as its server wrote it
        name = _unescaped(name)
        server = name if name in self._servers else self._written_small.get(name.lower())  # some clients write this part in lower case
        return (server, own) if server else None

    def _published(self, server: str, uri: str) -> str:
        return self._beginning(server, uri) + _escaped(uri)

    def _beginning(self, server: str, uri: str) -> str:
        name = _escaped(server)
        if self._case_counts[server.lower()] > 1:  # lower case on the way must not turn one name into the other
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
