"""What modern AI clients want to hear of: each `subscriptions/listen` names resources, tasks, and things of extensions.

Above it: Notifications, and the sessions of AI clients. Below it: Subscriptions, TaskListens and ExtensionListens, each for one kind.
"""

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from msgspec import Raw

from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.views.views import Views
from tooltray.gateway.calls.extension_listens import ExtensionListens
from tooltray.gateway.calls.subscriptions import Subscriptions
from tooltray.gateway.server_tasks.task_news import TaskListens
from tooltray.protocol.sessions.caller import Session

LISTENS_WITHIN_S = 5.0  # a server may be slow to say that it tells updates; the client is answered all the same


class ClientListens:
    """Belongs to the engine's loop; has no state of its own.

    Attributes:
        extensions: what is asked of extensions.
    """

    def __init__(
        self,
        *,
        views: Views,
        resources: ResourceManager,
        subscriptions: Subscriptions,
        task_listens: TaskListens,
        extension_listens: ExtensionListens,
    ) -> None:
        self._views, self._resources, self._subscriptions = views, resources, subscriptions
        self._task_listens, self.extensions = task_listens, extension_listens

    async def to_resources(self, session: Session, id: Raw, uris: Iterable[str], *, server: str | None) -> list[str]:
        """What one `subscriptions/listen` of a modern client wants to hear of.

        Returns:
            What it will hear of, when the servers have said so, at most after a while: without what nobody has or its server refuses.
        """
        wanted: dict[str, frozenset[str]] = {}
        places: dict[str, tuple[str, str]] = {}
        for uri in uris:
            if place := await self._place_of(session, uri, server):
                places[uri] = place
                wanted[place[0]] = wanted.get(place[0], frozenset()) | {place[1]}
        asking = self._subscriptions.set_listened(session, bytes(id), wanted)
        if wanted and asking:
            await asyncio.wait(asking, timeout=LISTENS_WITHIN_S)
        return [uri for uri, place in places.items() if not self._subscriptions.is_refused(session, *place)]

    async def _place_of(self, session: Session, uri: str, server: str | None) -> tuple[str, str] | None:
        """The server that tells updates of a resource, and its own URI for it; None if there is none for this session."""
        if server is not None:
            return (server, uri) if self._views.reaches(session.state, server) else None
        owner = await self._resources.owner(uri, is_reached=partial(self._views.reaches, session.state))
        return (owner[0].name, owner[1]) if owner else None

    async def to_tasks(self, session: Session, id: Raw, tasks: Sequence[str]) -> list[str]:
        """Of which tasks one `subscriptions/listen` of a modern client will hear, by the ids that it knows."""
        return await self._task_listens.listen(session, bytes(id), tasks)

    def end(self, session: Session, id: Raw) -> None:
        """A client's listen has ended."""
        self.extensions.close(session, id)
        self._subscriptions.set_listened(session, bytes(id), {})
        self._task_listens.end(session, bytes(id))
