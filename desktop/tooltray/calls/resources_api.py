"""The API about resources, by the URIs that AI clients see.

Below it: ResourceManager. What is asked here goes the way of an AI client's request, for a caller that cannot be asked anything.
"""

from typing import Any

from tooltray.calls.own_results import is_of, listed, result_of
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.entries.api import check_exists
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head
from tooltray.sessions.caller import OwnCaller
from tooltray.sessions.exchange import Exchange
from tooltray.upstream.held_calls import HeldCalls
from tooltray.upstream.server_manager import ServerManager


class ResourcesApi:
    def __init__(self, *, servers: ServerManager, resources: ResourceManager, caller: OwnCaller, held: HeldCalls) -> None:
        self._servers, self._resources, self._caller, self._held = servers, resources, caller, held

    async def get_all_resources(self, server: str | None = None) -> list[dict[str, Any]]:
        """The resources as AI clients see them; `server`: this one's only.

        Raises:
            TooltrayError: there is no such server.
        """
        check_exists(self._servers, server)
        resources = listed(await self._resources.listing(), "resources")
        return [resource for resource in resources if is_of(server, self._resources.target(resource["uri"]))]

    async def get_all_resource_templates(self, server: str | None = None) -> list[dict[str, Any]]:
        """The templates of resources as AI clients see them; `server`: this one's only.

        Raises:
            TooltrayError: there is no such server.
        """
        check_exists(self._servers, server)
        templates = listed(await self._resources.templates(), "resourceTemplates")
        return [template for template in templates if is_of(server, self._resources.template_target(template["uriTemplate"]))]

    async def read_resource(self, uri: str) -> dict[str, Any]:
        """What a resource holds, by the URI that AI clients see: the result object.

        Raises:
            TooltrayError: there is no such resource, or its server failed.
        """
        request = Envelope(method="resources/read", params=dump({"uri": uri}))
        reply = await self._resources.read(Exchange(request, Head(), self._caller, self._held, None, self._caller.name))
        return result_of(reply, f"the resource '{uri}' could not be read")
