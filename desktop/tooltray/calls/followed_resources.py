"""Resources that we follow ourselves, for the window and for programs: each update becomes an event.

Above it: ResourcesApi. Below it: ResourceManager, which knows whose a resource is, and Subscriptions, which asks its server. URIs are those
that AI clients see; the person has all servers.
"""

from collections import Counter

from tooltray.calls.notifications import Notifications
from tooltray.calls.subscriptions import Subscriptions
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.errors import NotFound, TooltrayError
from tooltray.events import EventBus, ResourceUpdated
from tooltray.phrases import Phrase
from tooltray.protocol.envelope import load
from tooltray.sessions.caller import OwnCaller
from tooltray.upstream.managed_server import ServerNotified
from tooltray.upstream.server_listen import UPDATED


class FollowedResources:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        resources: ResourceManager,
        subscriptions: Subscriptions,
        notifications: Notifications,
        caller: OwnCaller,
        bus: EventBus,
    ) -> None:
        self._resources, self._subscriptions, self._notifications = resources, subscriptions, notifications
        self._caller, self._bus = caller, bus
        self._followers: Counter[str] = Counter()  # how many follow each
        bus.subscribe(ServerNotified, self._on_server_notified)

    async def follow(self, uri: str) -> None:
        """
        Raises:
            TooltrayError: there is no such resource, or its server does not tell.
        """
        owner = await self._resources.owner(uri)
        if owner is None:
            raise NotFound(Phrase("There is no resource '{uri}'", uri=uri))
        reply = await self._subscriptions.subscribe(self._caller, *owner)
        if reply.error:
            error = load(reply.error)
            message = str(error.get("message", "")) if isinstance(error, dict) else ""
            raise TooltrayError(Phrase("'{server}' does not tell when this resource changes", server=owner[0].name), message)
        self._followers[uri] += 1

    async def leave(self, uri: str) -> None:
        """One who follows it does so no longer."""
        if not self._followers[uri]:
            return
        self._followers[uri] -= 1
        if not self._followers[uri] and (owner := await self._resources.owner(uri)):
            await self._subscriptions.unsubscribe(self._caller, *owner)

    def _on_server_notified(self, event: ServerNotified) -> None:
        if event.method != UPDATED or not any(self._followers.values()):
            return
        _, hearers = self._notifications.hearers(event.client, event.params)
        for session, asked in hearers:
            if session is self._caller:
                self._bus.publish(ResourceUpdated(self._resources.published_uri(event.client.name, asked)))
