"""Resources that we follow ourselves, for the window and for programs: updates become events, of each resource not too often.

Above it: ResourcesApi. Below it: ResourceManager, which knows whose a resource is, and Subscriptions, which asks its server. URIs are those
that AI clients see; the person has all servers.
"""

import asyncio
from collections import Counter

from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import EventBus, ResourceUpdated
from tooltray.foundation.phrases import Phrase
from tooltray.gateway.calls.notifications import Notifications
from tooltray.gateway.calls.subscriptions import Subscriptions
from tooltray.protocol.envelope import load
from tooltray.protocol.sessions.caller import OwnCaller
from tooltray.servers.upstream.managed_server import ServerNotified
from tooltray.servers.upstream.server_listen import UPDATED

TOLD_EVERY_S = 0.25  # a server may write a line of a log with each update; who hears of it reads the whole again


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
        told_every_s: float = TOLD_EVERY_S,
    ) -> None:
        """
        Args:
            told_every_s: updates of one resource within this time become one event, behind the first.
        """
        self._resources, self._subscriptions, self._notifications = resources, subscriptions, notifications
        self._caller, self._bus = caller, bus
        self._told_every_s = told_every_s
        self._followers: Counter[str] = Counter()  # how many follow each
        self._just_told: dict[str, bool] = {}  # by URI: whether there was an update since it was told
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
                self._tell(self._resources.published_uri(event.client.name, asked))

    def _tell(self, uri: str) -> None:
        if uri in self._just_told:
            self._just_told[uri] = True
            return
        self._just_told[uri] = False
        asyncio.get_running_loop().call_later(self._told_every_s, self._tell_again, uri)
        self._bus.publish(ResourceUpdated(uri))

    def _tell_again(self, uri: str) -> None:
        if self._just_told.pop(uri):
            self._tell(uri)
