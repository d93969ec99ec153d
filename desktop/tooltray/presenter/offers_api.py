"""Verbs of McpPresenter about prompts and resources, by the names and URIs that AI clients see. Mixed into it.

Below it: the managers of prompts and resources. What is asked here goes the way of an AI client's request, for a caller that cannot be
asked anything.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from tooltray.calls.model_calls import error_message
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.errors import TooltrayError
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head
from tooltray.sessions.exchange import Exchange
from tooltray.sessions.own_caller import OwnCaller
from tooltray.upstream.held_calls import HeldCalls
from tooltray.upstream.server_manager import ServerManager


class OfferVerbs:
    _servers: ServerManager
    _prompts: PromptManager
    _resources: ResourceManager
    _caller: OwnCaller
    _own_calls: HeldCalls

    async def get_all_prompts(self, server: str | None = None) -> list[dict[str, Any]]:
        """The definitions of prompts as AI clients see them; `server`: this one's only.

        Raises:
            TooltrayError: there is no such server.
        """
        self._check_server(server)
        prompts = _listed(await self._prompts.listing(), "prompts")
        owners = [await self._prompts.target(prompt["name"]) for prompt in prompts]
        return [prompt for prompt, owner in zip(prompts, owners, strict=True) if _is_of(server, owner)]

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A prompt by the name that AI clients see, filled in: the result object.

        Raises:
            TooltrayError: there is no such prompt, or its server failed.
        """
        request = Envelope(method="prompts/get", params=dump({"name": name, "arguments": dict(arguments or {})}))
        reply = await self._prompts.get(self._own_exchange(request, Head(name=name)))
        return _result_of(reply, f"the prompt '{name}' could not be got")

    async def get_all_resources(self, server: str | None = None) -> list[dict[str, Any]]:
        """The resources as AI clients see them; `server`: this one's only.

        Raises:
            TooltrayError: there is no such server.
        """
        self._check_server(server)
        resources = _listed(await self._resources.listing(), "resources")
        return [resource for resource in resources if _is_of(server, self._resources.target(resource["uri"]))]

    async def get_all_resource_templates(self, server: str | None = None) -> list[dict[str, Any]]:
        """The templates of resources as AI clients see them; `server`: this one's only.

        Raises:
            TooltrayError: there is no such server.
        """
        self._check_server(server)
        templates = _listed(await self._resources.templates(), "resourceTemplates")
        return [template for template in templates if _is_of(server, self._resources.template_target(template["uriTemplate"]))]

    async def read_resource(self, uri: str) -> dict[str, Any]:
        """What a resource holds, by the URI that AI clients see: the result object.

        Raises:
            TooltrayError: there is no such resource, or its server failed.
        """
        request = Envelope(method="resources/read", params=dump({"uri": uri}))
        reply = await self._resources.read(self._own_exchange(request, Head()))
        return _result_of(reply, f"the resource '{uri}' could not be read")

    def _own_exchange(self, request: Envelope, head: Head) -> Exchange:
        return Exchange(request, head, self._caller, self._own_calls, None, self._caller.name)

    def _check_server(self, server: str | None) -> None:
        if server is not None:
            self._servers.get(server)


def _result_of(reply: Envelope, failed: str) -> dict[str, Any]:
    """The result object of a server's reply.

    Args:
        failed: what did not work, in words.

    Raises:
        TooltrayError: the reply is an error, or its result no object.
    """
    if reply.error:
        raise TooltrayError(failed, error_message(reply))
    result = envelope.load(reply.result)
    if not isinstance(result, dict):
        raise TooltrayError(failed, "the server's answer is no object")
    return result


def _listed(listing: Raw, member: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = envelope.load(listing)[member]
    return listed


def _is_of(server: str | None, owner: tuple[str, str] | None) -> bool:
    return server is None or (owner is not None and owner[0] == server)
