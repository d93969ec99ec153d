"""The cost of tool definitions in a model's context.

A tool counts as the JSON of its name, description and input schema, without spaces: every client sends these to its model. Some clients add
words of their own, a prefix to each name or the output schema, and some rewrite the schema, so that a client's own number differs, though
in the same proportions.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256

from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue import token_counts
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.offer import TOOLS
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.foundation.snapshots.tools import ServerCost, ToolCost, ToolCosts
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.envelope import load
from tooltray.protocol.member_scanner import elements_of, opened
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.builtin.hub_server import NAME as HUB

MOST_KEPT = 20_000  # counts, of 40 bytes; four times the 5,000 tools of the largest server that is planned for
SKILL = "skill:"  # the prefix of a skill's key among the counted texts; no name of a tool has a colon
COMPACT = "compact:"  # the prefix of the same for a tool that a compact listing would have
ACTIVATE = "activate_"  # before the name of a server: the tool that represents its tools

Count = Callable[[Sequence[str]], list[int] | None]
Compact = tuple[Mapping[str, Raw], Sequence[Raw]]
"""The tool that would represent each server of a compact tool listing, and the tools listed beside these."""


class ToolCosting:
    """The costs of tools. Belongs to the engine's loop. Counts are kept while the hub runs."""

    def __init__(
        self,
        *,
        tools: ToolManager,
        listing: Callable[[SessionState], Awaitable[Raw]],
        sees: Callable[[SessionState, str], bool],
        if_compact: Callable[[SessionState], Awaitable[Compact]],
        if_full: Callable[[SessionState], Awaitable[Sequence[Raw]]],
        skill_texts: Callable[[SessionState, str], Sequence[str]] = lambda state, server: (),
        count: Count = token_counts.counted,
    ) -> None:
        """
        Args:
            listing: the result of `tools/list` for a session.
            sees: whether a server exists for a session.
            if_compact: the tools of a compact tool listing for a session: of each server, and besides.
            if_full: the hub's own tools of a full tool listing for a session; tools that a shorter one has beside them are no part of it.
            skill_texts: returns the texts about a server's skills that clients with support for skills show their models.
            count: see token_counts.counted; blocks.
        """
        self._tools, self._listing, self._sees, self._skill_texts, self._count = tools, listing, sees, skill_texts, count
        self._if_compact, self._if_full = if_compact, if_full
        self._counts: dict[bytes, int] = {}
        self._lock = asyncio.Lock()

    async def costs(self, state: SessionState) -> ToolCosts:
        """Answers ViewsApi.get_tool_costs. `state`: of an existing session, or of a future one."""
        listing = await self._listing(state)
        seen = frozenset(server for server in self._tools.server_names if self._sees(state, server))
        published = [each for each in await self._tools.published(state.server) if each[1].server in seen and _is_for_models(each[1])]
        shown, texts, extra = await finish_in_thread(_texts, listing, published)
        of_servers, beside = await self._if_compact(state)
        compact = {COMPACT + name: token_counts.counted_text(tool) for name, tool in of_servers.items()}
        search = {f"{COMPACT}{n}:": token_counts.counted_text(tool) for n, tool in enumerate(beside)}
        keys = {server: f"{SKILL}{place}:" for place, server in enumerate(sorted(seen))}
        skills = {f"{key}{n}": text for server, key in keys.items() for n, text in enumerate(self._skill_texts(state, server))}
        counts, tokenizer = await self._counted({**texts, **extra, **skills, **compact, **search})
        of_skills = {server: sum(counts[each] for each in skills if each.startswith(key)) for server, key in keys.items()}
        in_full = {load(opened(tool)["name"]) for tool in await self._if_full(state)}
        servers = await finish_in_thread(self._by_server, published, counts, shown.keys() - extra.keys(), extra, extra.keys() - in_full)
        servers = _with_skills(servers, of_skills)
        servers = tuple(replace(each, compact_tokens=counts.get(COMPACT + each.server)) for each in servers)
        return ToolCosts(
            tokenizer=tokenizer,
            tokens=sum(server.tokens for server in servers),
            shown_tokens=sum(server.shown_tokens for server in servers),
            servers=servers,
            client=state.client,
            skill_tokens=sum(of_skills.values()),
            search_tokens=sum(counts[each] for each in search),
        )

    def _by_server(
        self,
        published: Iterable[tuple[str, Route]],
        counts: Mapping[str, int],
        shown: Iterable[str],
        extra: Iterable[str],
        not_in_full: Collection[str],
    ) -> tuple[ServerCost, ...]:
        """Returns the costs of each server. `not_in_full`: names in `extra` that a full listing lacks."""
        at_start = set(shown)
        tools: dict[str, list[ToolCost]] = {}
        for name, route in published:
            tools.setdefault(route.server, []).append(ToolCost(name, counts[name], name in at_start))
        more: dict[str, int] = {}
        for name in extra:
            server = self._owner(name)
            if server == HUB:  # it represents no other tools, so it is a tool of the hub
                tools.setdefault(HUB, []).append(ToolCost(name, counts[name], True))
            else:
                more[server] = more.get(server, 0) + counts[name]
        return tuple(
            _server_cost(server, tools.get(server, []), more.get(server, 0), not_in_full) for server in sorted(tools.keys() | more.keys())
        )

    def _owner(self, name: str) -> str:
        """Returns the server that a tool of the hub's about other tools represents; the hub itself for one that represents all."""
        _, tool = self._tools.target(name, None) or (HUB, name)
        server = tool.removeprefix(ACTIVATE)
        return server if server != tool and server in self._tools.server_names else HUB

    async def _counted(self, texts: Mapping[str, str]) -> tuple[dict[str, int], str]:
        """Returns the tokens of each text, and the method of counting."""
        keys = await finish_in_thread(_keys, texts)
        async with self._lock:  # simultaneous callers get the same counts
            new = {key: texts[name] for name, key in keys.items() if key not in self._counts}
            counts = await finish_in_thread(self._count, list(new.values()))
            if counts is None:
                return {
                    name: token_counts.estimated(len(text.encode("utf-8", "replace"))) for name, text in texts.items()
                }, token_counts.ESTIMATE
            self._counts.update(zip(new, counts, strict=True))
            found = {name: self._counts[key] for name, key in keys.items()}
            for key in list(self._counts)[: max(0, len(self._counts) - MOST_KEPT)]:
                del self._counts[key]
            return found, token_counts.TOKENIZER


def _is_for_models(route: Route) -> bool:
    return route.definition.view.is_for_models


def _texts(listing: Raw, published: Sequence[tuple[str, Route]]) -> tuple[dict[str, Raw], dict[str, str], dict[str, str]]:
    """Returns the tools that are listed for models, by name; the texts of all tools; and the texts of other listed tools."""
    shown = {name: definition for name, definition in _by_name(listing).items() if read_definition(definition).view.is_for_models}
    texts = {name: token_counts.counted_text(route.published(name)) for name, route in published}
    return shown, texts, {name: token_counts.counted_text(definition) for name, definition in shown.items() if name not in texts}


def _with_skills(servers: Sequence[ServerCost], of_skills: Mapping[str, int]) -> tuple[ServerCost, ...]:
    """Adds the cost of skills; a server may have only skills."""
    known = {each.server: each for each in servers}
    named = sorted(known.keys() | {server for server, tokens in of_skills.items() if tokens})
    return tuple(replace(known.get(name) or ServerCost(name, 0, 0, ()), skill_tokens=of_skills.get(name, 0)) for name in named)


def _keys(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {name: sha256(text.encode("utf-8", "replace")).digest() for name, text in texts.items()}


def _server_cost(server: str, tools: Sequence[ToolCost], more: int, not_in_full: Collection[str]) -> ServerCost:
    """Adds up the costs of one server.

    Args:
        more: tokens of the tool that represents its tools.
        not_in_full: names of tools that a full listing lacks.
    """
    full = sum(tool.tokens for tool in tools if tool.name not in not_in_full)
    shown = sum(tool.tokens for tool in tools if tool.is_shown)
    return ServerCost(server, full, shown + more, tuple(tools))


def _by_name(listing: Raw) -> dict[str, Raw]:
    definitions = elements_of(opened(listing)[TOOLS.member])
    return {load(opened(definition)["name"]): definition for definition in definitions}
