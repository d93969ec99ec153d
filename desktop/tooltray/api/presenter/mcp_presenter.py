"""McpPresenter: the façade over servers and tools. Sessions, command line, control channel and desktop call only this façade.

It has the parts of the API as attributes: `presenter.servers.restart_server(name)`. A caller that has only a verb's name finds the verb in
`verbs`, and as an attribute: `presenter.restart_server(name)`. Three more parts serve the requests that sessions make for AI clients.
"""

from typing import TYPE_CHECKING

from tooltray.api.parts import Api, verb_table
from tooltray.api.presenter.hub_snapshots import HubSnapshots
from tooltray.api.presenter.session_clients import SessionClients
from tooltray.api.presenter.session_servers import SessionServers
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.verbs import Verb
from tooltray.gateway.calls.request_router import RequestRouter


class McpPresenter(Api):
    """The façade over a running hub. Belongs to the engine's loop.

    Attributes:
        verbs: each verb of every part by its name.
        router: answers sessions' requests, and carries their messages outside of requests.
        session_servers: which servers sessions have.
        session_clients: what sessions' clients declare about themselves, and what the hub declares to them.
    """

    def __init__(
        self,
        api: Api,
        *,
        router: RequestRouter,
        session_servers: SessionServers,
        session_clients: SessionClients,
        snapshots: HubSnapshots,
    ) -> None:
        super().__init__(**vars(api))
        self.verbs = verb_table(api)
        self.router, self.session_servers, self.session_clients, self._snapshots = router, session_servers, session_clients, snapshots

    if not TYPE_CHECKING:  # pragma: no branch: our own code names the part, and is checked

        def __getattr__(self, name: str) -> Verb:
            try:
                return self.__dict__["verbs"][name]
            except KeyError:
                raise AttributeError(f"McpPresenter has no verb '{name}'", name=name, obj=self) from None

    def snapshot(self) -> HubSnapshot:
        """Returns a snapshot of the hub now; for callers on the loop's own thread."""
        return self._snapshots.now()
