"""The API about the tools, prompts and resources of servers, by the names that AI clients see; about calls of these, and servers'
questions.

Requests from here are handled like an AI client's, for a caller that cannot be asked anything.
"""

from collections.abc import Mapping

from msgspec import Raw

from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.consent.approvals.permissions import DefinitionChanges
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse, ToolSnapshot
from tooltray.foundation.verbs import JsonMapping, JsonObject, verb, when_enabled
from tooltray.gateway.calls.elicitations import Elicitations
from tooltray.gateway.calls.notifications import FollowedResources
from tooltray.gateway.calls.offer_requests import PROMPT, RESOURCE, Completion
from tooltray.gateway.calls.own_calls import OwnCalls, error_message, result_of
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head
from tooltray.protocol.sessions.caller import OwnCaller
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.sources.entries.proposals import Proposals
from tooltray.sources.entries.server_entries import check_exists, check_is_in_settings


def checked_result(reply: Envelope, failed: str) -> JsonObject:
    """Returns the result object of a server's reply.

    Args:
        failed: the title of the error.

    Raises:
        TooltrayError: the reply is an error.
    """
    if reply.error:
        raise TooltrayError(failed, error_message(reply))
    result: JsonObject = envelope.load(reply.result)
    return result


def listed(listing: Raw, member: str) -> list[JsonObject]:
    """Returns the definitions in a list as AI clients get it. `member`: of the list's result."""
    definitions: list[JsonObject] = envelope.load(listing)[member]
    return definitions


def is_of(server: str | None, owner: tuple[str, str] | None) -> bool:
    """Returns whether a definition belongs to a server; for None always True."""
    return server is None or (owner is not None and owner[0] == server)


def completion_params(ref: Mapping[str, str], argument: str, value: str, given: Mapping[str, str]) -> Envelope:
    """Returns a request to complete an argument of the prompt or template that `ref` refers to."""
    params = {"ref": ref, "argument": {"name": argument, "value": value}, "context": {"arguments": dict(given)}}
    return Envelope(method="completion/complete", params=dump(params))


def completed(reply: Envelope, what: str) -> list[str]:
    """Returns the values that a server proposes.

    Raises:
        TooltrayError: the reply is an error.
    """
    found = checked_result(reply, f"'{what}' could not be completed").get("completion")
    values = found.get("values") if isinstance(found, dict) else None
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


class ToolsApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        tools: ToolManager,
        prompts: PromptManager,
        definition_changes: DefinitionChanges,
        proposals: Proposals,
        calls: OwnCalls,
    ) -> None:
        self._config, self._servers, self._tools, self._prompts = config, servers, tools, prompts
        self._changes, self._proposals, self._calls = definition_changes, proposals, calls

    async def get_all_tool_definitions(self, server: str | None = None) -> list[JsonObject]:
        """Returns the definitions of tools that AI clients see, with the names that they see.

        Raises:
            NotFound: the server does not exist.
        """
        check_exists(self._servers, server)
        return [envelope.load(route.published(name)) for name, route in await self._tools.published(server)]

    async def get_tools(self, server: str | None = None) -> list[ToolSnapshot]:
        """Returns all known tools, also disabled ones.

        Raises:
            NotFound: the server does not exist.
        """
        if server and self._proposals.is_new(server):
            return []
        check_exists(self._servers, server)
        return self._changes.with_held(await self._tools.snapshots(server))

    @verb(trusted=when_enabled)
    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        """Enables or disables a tool for AI clients. `tool`: the server's own name for it.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: it comes with Tooltray, or the settings cannot be written.
        """
        check_is_in_settings(self._servers, server)
        disabled = self._config.settings.mcp_servers[server].disabled_tools
        others = [each for each in disabled if each != tool]
        await self._config.change_server(server, disabled_tools=others if enabled else [*others, tool])

    @verb("call")
    async def call_tool(self, name: str, arguments: JsonMapping, project: str | None = None) -> JsonObject:
        """Calls a tool by the name that AI clients see, and returns the result object.

        Args:
            project: the allowed folder of a project, for servers that wait for a project.

        Raises:
            TooltrayError: the tool does not exist, it is not approved, its server failed, or the folder may not be a project.
        """
        reply = await self._calls.call(name, arguments, project=project)
        if reply.error:
            message = error_message(reply)
            if message == f"Unknown tool: {name}":
                raise TooltrayError(Phrase("Tool '{name}' not found", name=name), hint=Phrase("See which there are: tooltray tools list"))
            raise TooltrayError(Phrase("'{name}' could not be called", name=name), message)
        return result_of(reply)

    @verb("call")
    async def run_tool_call(self, call: MCPToolCall) -> MCPToolResponse:
        """Carries out a tool call of a model. A failure is a response too, which the model can read.

        Args:
            call: as one of the formats has it; its `name` as AI clients see the tool.
        """
        return await self._calls.run(call, is_models=True)

    async def reset_tool_names(self) -> None:
        """Drops the published names of tools; AI clients may then see tools under other names."""
        await self._tools.forget_names()
        await self._prompts.forget_names()


class PromptsApi:
    def __init__(
        self,
        *,
        servers: ServerManager,
        prompts: PromptManager,
        completion: Completion,
        caller: OwnCaller,
        held: HeldCalls,
        flow_guard: FlowGuard,
    ) -> None:
        self._servers, self._prompts, self._completion, self._caller, self._held = servers, prompts, completion, caller, held
        self._guard = flow_guard

    async def get_all_prompts(self, server: str | None = None) -> list[JsonObject]:
        """Returns the definitions of prompts as AI clients see them; with `server` only that server's.

        Raises:
            NotFound: the server does not exist.
        """
        check_exists(self._servers, server)
        prompts = listed(await self._prompts.listing(), "prompts")
        owners = [await self._prompts.target(prompt["name"]) for prompt in prompts]
        return [prompt for prompt, owner in zip(prompts, owners, strict=True) if is_of(server, owner)]

    @verb("call")
    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> JsonObject:
        """Returns a filled-in prompt, by the name that AI clients see, as the result object.

        Raises:
            TooltrayError: the prompt does not exist, or its server failed.
        """
        request = Envelope(method="prompts/get", params=dump({"name": name, "arguments": dict(arguments or {})}))
        exchange = Exchange(request, Head(name=name), self._caller, self._held, None, self._caller.name)
        reply = await self._prompts.get(exchange, on_used=lambda server: self._guard.note_other(server, self._caller.state))
        return checked_result(reply, f"the prompt '{name}' could not be fetched")

    @verb("call")
    async def complete_prompt(self, name: str, argument: str, value: str, given: Mapping[str, str] | None = None) -> list[str]:
        """Returns possible values for an argument of a prompt by the text so far; empty if the server proposes nothing.

        Args:
            name: the prompt, by the name that AI clients see.
            given: the values of its other arguments.

        Raises:
            TooltrayError: the prompt does not exist, or its server failed.
        """
        params = completion_params({"type": PROMPT, "name": name}, argument, value, given or {})
        exchange = Exchange(params, Head(), self._caller, self._held, None, self._caller.name)
        return completed(await self._completion.complete(exchange), name)


class ResourcesApi:
    def __init__(
        self,
        *,
        servers: ServerManager,
        resources: ResourceManager,
        completion: Completion,
        followed: FollowedResources,
        caller: OwnCaller,
        held: HeldCalls,
        flow_guard: FlowGuard,
    ) -> None:
        self._servers, self._resources, self._completion, self._guard = servers, resources, completion, flow_guard
        self._followed, self._caller, self._held = followed, caller, held

    async def get_all_resources(self, server: str | None = None) -> list[JsonObject]:
        """Returns the resources as AI clients see them; with `server` only that server's.

        Raises:
            NotFound: the server does not exist.
        """
        check_exists(self._servers, server)
        resources = listed(await self._resources.listing(), "resources")
        return [resource for resource in resources if is_of(server, self._resources.target(resource["uri"]))]

    async def get_all_resource_templates(self, server: str | None = None) -> list[JsonObject]:
        """Returns the templates of resources as AI clients see them; with `server` only that server's.

        Raises:
            NotFound: the server does not exist.
        """
        check_exists(self._servers, server)
        templates = listed(await self._resources.templates(), "resourceTemplates")
        return [template for template in templates if is_of(server, self._resources.template_target(template["uriTemplate"]))]

    @verb("call")
    async def read_resource(self, uri: str) -> JsonObject:
        """Returns the content of a resource, by the URI that AI clients see, as the result object.

        Raises:
            TooltrayError: the resource does not exist, or its server failed.
        """
        request = Envelope(method="resources/read", params=dump({"uri": uri}))
        exchange = Exchange(request, Head(), self._caller, self._held, None, self._caller.name)
        reply = await self._resources.read(exchange, on_read=lambda server: self._guard.note_other(server, self._caller.state))
        return checked_result(reply, f"the resource '{uri}' could not be read")

    @verb("call")
    async def complete_resource(self, template: str, variable: str, value: str, given: Mapping[str, str] | None = None) -> list[str]:
        """Returns possible values for a variable of a template by the text so far; empty if the server proposes nothing.

        Args:
            template: its text, as AI clients see it.
            given: the values of its other variables.

        Raises:
            TooltrayError: the template does not exist, or its server failed.
        """
        params = completion_params({"type": RESOURCE, "uri": template}, variable, value, given or {})
        exchange = Exchange(params, Head(), self._caller, self._held, None, self._caller.name)
        return completed(await self._completion.complete(exchange), template)

    @verb("call")
    async def subscribe_resource(self, uri: str) -> None:
        """Subscribes to a resource: each change is an event `ResourceUpdated`. One `unsubscribe_resource` ends one subscription.

        Raises:
            TooltrayError: the resource does not exist, or its server sends no updates.
        """
        await self._followed.follow(uri)

    @verb("call")
    async def unsubscribe_resource(self, uri: str) -> None:
        """Ends one subscription; does nothing for a resource without subscriptions."""
        await self._followed.leave(uri)


def _accepts(part: "QuestionsApi", arguments: JsonMapping) -> bool:
    """Requires a trusted token to accept a server's question; declining it is free."""
    return bool(arguments["action"] == "accept")


class QuestionsApi:
    def __init__(self, *, elicitations: Elicitations) -> None:
        self._elicitations = elicitations

    @verb(trusted=_accepts)
    async def answer_elicitation(self, id: str, action: str, content: JsonObject | None = None) -> None:
        """Answers a server's question: "accept" with the values of its form, "decline", or "cancel" for no answer at all.

        Raises:
            TooltrayError: the question has ended, or the answer does not fit.
        """
        self._elicitations.answer(id, action, content)
