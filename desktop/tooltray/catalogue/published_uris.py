"""The URIs by which AI clients see resources now: the rules of resource_uris for what all servers list, and for the views that tools name.
A URI changes when another server with the same URI appears; then the lists of the first server change, though it has announced nothing.
"""

from collections.abc import Iterable, Iterator

from tooltray.catalogue.offer import RESOURCES, TEMPLATES
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.resource_uris import VIEW_PREFIX, ResourceUris
from tooltray.catalogue.skill_uris import SkillUris
from tooltray.foundation.events import Event, EventBus, ResourceListChanged


class ViewsMoved(Event, frozen=True):
    """An event: views of these servers have other URIs than before."""

    servers: frozenset[str]


class PublishedUris:
    """The present URIs of all resources. Belongs to the engine's loop."""

    def __init__(self, *, offers: Offers, bus: EventBus, skill_uris: SkillUris) -> None:
        self._offers, self._bus, self._skills = offers, bus, skill_uris
        self._views: dict[str, tuple[str, ...]] = {}  # by server: what its tools name
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
        """The rules for what is known now."""
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
