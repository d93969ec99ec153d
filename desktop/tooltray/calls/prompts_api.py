"""The API about prompts, by the names that AI clients see.

Below it: PromptManager. What is asked here goes the way of an AI client's request, for a caller that cannot be asked anything.
"""

from collections.abc import Mapping
from typing import Any

from tooltray.calls.own_results import is_of, listed, result_of
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.entries.api import check_exists
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head
from tooltray.sessions.caller import OwnCaller
from tooltray.sessions.exchange import Exchange
from tooltray.upstream.held_calls import HeldCalls
from tooltray.upstream.server_manager import ServerManager


class PromptsApi:
    def __init__(self, *, servers: ServerManager, prompts: PromptManager, caller: OwnCaller, held: HeldCalls) -> None:
        self._servers, self._prompts, self._caller, self._held = servers, prompts, caller, held

    async def get_all_prompts(self, server: str | None = None) -> list[dict[str, Any]]:
        """The definitions of prompts as AI clients see them; `server`: this one's only.

        Raises:
            TooltrayError: there is no such server.
        """
        check_exists(self._servers, server)
        prompts = listed(await self._prompts.listing(), "prompts")
        owners = [await self._prompts.target(prompt["name"]) for prompt in prompts]
        return [prompt for prompt, owner in zip(prompts, owners, strict=True) if is_of(server, owner)]

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A prompt by the name that AI clients see, filled in: the result object.

        Raises:
            TooltrayError: there is no such prompt, or its server failed.
        """
        request = Envelope(method="prompts/get", params=dump({"name": name, "arguments": dict(arguments or {})}))
        reply = await self._prompts.get(Exchange(request, Head(name=name), self._caller, self._held, None, self._caller.name))
        return result_of(reply, f"the prompt '{name}' could not be got")
