"""Under which URIs AI clients see the resources of several servers, and whose resource a URI means.

Above it: ResourceManager. Below it: protocol/uri_template. A URI stays as its server wrote it, unless another server lists the same one:
then it is published as `tooltray://{server}/{the URI, percent-escaped}`, for both. Templates likewise; their expressions stay, so that AI
clients can fill them in. What begins with `skill://` has rules of its own, see skill_uris. One such set of rules belongs to one state of
all lists and never changes.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from urllib.parse import quote, unquote

import msgspec

from tooltray.catalogue.skill_uris import SCHEME, SkillUris, prefixed
from tooltray.protocol.uri_template import UriTemplate

PREFIX = "tooltray://"

Target = tuple[str, str]
"""A server's name and its own URI."""

_escaped = partial(quote, safe="", errors="replace")


class _Template(msgspec.Struct, frozen=True):
    server: str
    own: UriTemplate
    published: UriTemplate

    @property
    def is_contested(self) -> bool:
        return self.published is not self.own


class ResourceUris:
    def __init__(
        self, uris: Mapping[str, Iterable[str]], templates: Mapping[str, Iterable[str]], *, skills: SkillUris | None = None
    ) -> None:
        """
        Args:
            uris, templates: what each server lists. The order of the servers counts where a URI could mean several.
            skills: the rules for what begins with `skill://`; None: it is like any other.
        """
        self._skills = skills
        self._servers = {server.lower(): server for server in [*uris, *templates]} | {server: server for server in [*uris, *templates]}
        self._owners = _owners(uris)
        self._template_owners = _owners(templates)
        self._targets = {self.published_uri(server, uri): (server, uri) for server, listed in uris.items() for uri in listed}
        self._templates = [self._template(server, text) for server, listed in templates.items() for text in listed]

    def published_uri(self, server: str, uri: str) -> str:
        """The URI by which AI clients know a server's resource, listed or not; the reverse of `targets`."""
        if self._skills and uri.startswith(SCHEME):
            return self._skills.published(server, uri)
        if server in (owners := self._owners.get(uri, ())):
            return uri if len(owners) == 1 else _published(server, uri)
        for template in self._templates:
            if template.server == server and template.is_contested and (values := template.own.match(uri)) is not None:
                return template.published.expanded(values)
        first = next(self.targets(uri), None)
        return uri if first in (None, (server, uri)) else _published(server, uri)

    def published_template(self, server: str, template: str) -> str:
        """The same for a server's template."""
        return self._template(server, template).published.text

    def targets(self, uri: str) -> Iterator[Target]:
        """What a URI may mean, the likeliest first; nothing where no server has listed it or a template for it."""
        if self._skills and uri.startswith(SCHEME) and (found := self._skills.target(uri) or self._filled_in(uri)):
            yield found
        elif target := self._targets.get(uri):
            yield target
        elif uri.startswith(PREFIX):
            yield from self._parsed(uri)
        elif owners := self._owners.get(uri):
            yield from ((server, uri) for server in owners)
        else:
            servers = (template.server for template in self._templates if template.own.match(uri) is not None)
            yield from ((server, uri) for server in dict.fromkeys(servers))

    def template_target(self, text: str) -> Target | None:
        """Whose template a published one is, and the server's own text of it."""
        found = (template for template in self._templates if text in (template.published.text, template.own.text))
        return next(((template.server, template.own.text) for template in found), None)

    def _template(self, server: str, text: str) -> _Template:
        own = UriTemplate(text)
        is_contested = any(owner != server for owner in self._template_owners.get(text, ()))
        if is_contested and self._skills and text.startswith(SCHEME):
            return _Template(server, own, UriTemplate(prefixed(server, text)))
        return _Template(server, own, own.changed(_escaped, prefix=_published(server, "")) if is_contested else own)

    def _filled_in(self, uri: str) -> Target | None:
        """Of a template that several servers list."""
        for template in self._templates:
            if template.is_contested and (values := template.published.match(uri)) is not None:
                return template.server, template.own.expanded(values)
        return None

    def _parsed(self, uri: str) -> Iterator[Target]:
        """A URI of ours that is not listed, or not any more: from a template, or noted down while its resource was listed."""
        if found := self._filled_in(uri):
            yield found
            return
        name, _, rest = uri.removeprefix(PREFIX).partition("/")
        name = unquote(name, errors="replace")
        if server := self._servers.get(name) or self._servers.get(name.lower()):  # some clients write the part behind `//` small
            yield server, unquote(rest, errors="replace")


def _owners(lists: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    owners: dict[str, list[str]] = {}
    for server, listed in lists.items():
        for each in listed:
            owners.setdefault(each, []).append(server)
    return owners


def _published(server: str, uri: str) -> str:
    return f"{PREFIX}{_escaped(server)}/{_escaped(uri)}"
