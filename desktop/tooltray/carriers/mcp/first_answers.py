"""Keeps the answers with which sessions of bridges begin, in a file of the home, for bridges that come before the next hub.

Nothing may be in it that the next hub would not answer. So the file names all files that decide about the answers, as they were, and a
bridge ignores it if one has changed; answers that also depend on anything else are not kept; and the file goes as soon as something changes
what sessions see. It is written off the loop, and seldom.
"""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from tooltray.carriers.mcp.client_notices import LISTS
from tooltray.carriers.mcp.client_session import FirstAnswered
from tooltray.carriers.mcp.first_answers_file import (
    MAX_BYTES,
    Asked,
    Kind,
    StrPath,
    changed_at,
    decode,
    encode,
    is_own,
    program_file,
    signature,
    size_of,
)
from tooltray.catalogue.views.known_clients import has_result_limit
from tooltray.catalogue.views.modes import Modes, ModesChanged, SessionView, own_copy
from tooltray.config.settings.file_server import FILE_NAME
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import ConfigChanged, EventBus, PromptListChanged, ResourceListChanged, ToolListChanged
from tooltray.foundation.files.atomic_file import read_own, write_atomically
from tooltray.foundation.home.home import Home
from tooltray.foundation.regular_file import read_regular
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.protocol import eras
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.server_manager import ServerManager

logger = logging.getLogger(__name__)
WRITE_AFTER_S = 3.0  # several answers become one write
SETTLED_S = 2.0  # the coarsest time stamps of disks: a later change of a file that has not changed for so long shows
UNSIGNED = b""
MOST_KINDS, MOST_ANSWERS = 64, 32
MAX_RESULT_BYTES = 1 << 20
GREETINGS = ("initialize", "server/discover")
TOOLS = "tools/list"
PROMPTS, RESOURCES = ("prompts/list",), ("resources/list", "resources/templates/list")


class FirstAnswers:
    """The first answers of one hub. Belongs to the engine's loop."""

    def __init__(self, *, home: Home, config: McpConfHelper, modes: Modes, servers: ServerManager, bus: EventBus, spawn: Spawn) -> None:
        self._home, self._config, self._modes, self._servers = home, config, modes, servers
        self._bus, self._spawn = bus, spawn
        self._program = signature(program_file())  # it may be replaced while this hub runs
        self._kinds: dict[bytes, Kind] = {}  # the last noted ones last
        self._revision = 0  # of what sessions see
        self._is_on_disk = True  # the file may exist
        self._written = b""
        self._timer: asyncio.TimerHandle | None = None
        self._unsubscribe: list[Callable[[], None]] = []  # empty: nothing is noted
        self._writing = asyncio.Lock()

    def start(self) -> None:
        """Begins to note answers; those that the last hub has left stay, if the next hub would still give them."""
        every = (*GREETINGS, *LISTS)
        self._unsubscribe = [
            self._bus.subscribe(FirstAnswered, self._on_answered),
            self._bus.subscribe(ConfigChanged, lambda event: self._drop(every)),
            self._bus.subscribe(ModesChanged, lambda event: self._drop(every)),
            self._bus.subscribe(ToolListChanged, lambda event: self._drop((*GREETINGS, TOOLS))),
            self._bus.subscribe(PromptListChanged, lambda event: self._drop(PROMPTS)),
            self._bus.subscribe(ResourceListChanged, lambda event: self._drop(RESOURCES)),
        ]
        self._spawn(self._load(self._revision), name="read first answers")

    async def close(self) -> None:
        """Writes the file; notes nothing more, so that the end of the servers changes nothing."""
        if not self._unsubscribe:
            return
        for end in self._unsubscribe:
            end()
        self._unsubscribe = []
        if self._timer:
            self._timer.cancel()
        await self._write()

    # answers

    def _on_answered(self, event: FirstAnswered) -> None:
        state = event.session.state
        if len(memoryview(event.result)) > MAX_RESULT_BYTES or not self._is_repeatable(event):
            return
        inputs = {os.path.join(state.project.path, FILE_NAME): UNSIGNED} if state.project else {}
        kind = self._kinds[event.facts] = _with_inputs(self._kinds.pop(event.facts, Kind()), inputs)
        asked = Asked(bytes(event.session.introduction), event.method, bytes(event.params))
        result, known = bytes(event.result), (each for other in self._kinds.values() for each in other.answers.values())
        kind.answers.pop(asked, None)
        kind.answers[asked] = next((each for each in known if each == result), result)  # many sessions share one list
        if len(kind.answers) > MOST_ANSWERS:
            del kind.answers[next(iter(kind.answers))]
        self._bound()
        self._write_soon()

    def _bound(self) -> None:
        while len(self._kinds) > MOST_KINDS or sum(map(size_of, self._kinds.values())) > MAX_BYTES:
            del self._kinds[next(iter(self._kinds))]

    def _is_repeatable(self, event: FirstAnswered) -> bool:
        """Reports whether the next hub would give the same answer, as long as the files that decide about it stay as they are."""
        session, params = event.session, bytes(event.params)
        state, view = session.state, self._modes.view(session.state)
        asker = eras.read_client_info(event.params)
        is_named = bool(session.introduction) or (asker.name, asker.version) == (state.client, state.version)
        is_fresh = view == self._modes.view(replace(state, activated=set(), obeys_changes=None, listed_mode=""))
        if not is_named or not is_fresh or self._has_own_copy(event):
            return False
        if (view.own or view.lacks_any) and (state.projects.keys() - {"folder"} or b'"roots"' in params + bytes(session.introduction)):
            return False  # the next session's roots may be others
        if event.method in RESOURCES and self._servers.deferred():
            return False  # each project's instance has its own
        if state.server and event.method not in (*GREETINGS, TOOLS):
            return False  # the server itself answers
        return all(self._is_settled(state, view, name) for name in self._config.file_servers)

    def _has_own_copy(self, event: FirstAnswered) -> bool:
        """Reports whether instances contribute that were started for a session or an era, and have no saved lists."""
        if server := event.session.state.server:
            return own_copy(self._servers, server, event.era, event.session) is not None
        return any(server.client_for(event.era) not in (None, server.client) for server in self._servers)

    def _is_settled(self, state: SessionState, view: SessionView, name: str) -> bool:
        """Reports whether a server of a project's file is one of the session's, whose file is watched, or does not concern it at all."""
        server = self._config.file_servers[name]
        if state.project and server.project == state.project.path:
            return self._config.own_settings.hot_reload
        config = server.entry.config  # which may decide how the tools of all servers are shown
        return name not in view.own and bool(server.project) and config.own_lazy_load is None and not has_result_limit(config)

    # the file

    def _drop(self, methods: Collection[str]) -> None:
        """Drops the answers to these methods, also from the disk, before anyone hears of the change."""
        self._revision += 1
        for kind in self._kinds.values():
            kind.answers = {asked: result for asked, result in kind.answers.items() if asked.method not in methods}
        self._kinds = {facts: kind for facts, kind in self._kinds.items() if kind.answers}
        self._remove()
        self._write_soon()

    def _remove(self) -> None:
        if self._is_on_disk:
            self._is_on_disk, self._written = False, b""
            with contextlib.suppress(OSError):
                self._home.first_answers.unlink()

    def _write_soon(self) -> None:
        if self._timer is None and self._kinds and self._unsubscribe:
            self._timer = asyncio.get_running_loop().call_later(WRITE_AFTER_S, self._start_writing)

    def _start_writing(self) -> None:
        self._timer = None
        self._spawn(self._write(), name="write first answers")

    async def _load(self, revision: int) -> None:
        async with self._writing:
            found = await finish_in_thread(self._read)
        if revision == self._revision:
            for facts, kind in self._kinds.items():
                both = found[facts] = _with_inputs(found.pop(facts, Kind()), kind.inputs)
                both.answers |= kind.answers
            self._kinds = found
            self._bound()

    async def _write(self) -> None:
        async with self._writing:
            if not self._kinds:
                return
            revision, self._is_on_disk = self._revision, True
            kinds = {facts: replace(kind, answers=dict(kind.answers)) for facts, kind in self._kinds.items()}
            is_done = await finish_in_thread(self._put, kinds, self._config.content)
            for facts in [facts for facts, kind in kinds.items() if not kind.answers]:
                self._kinds.pop(facts, None)
            if revision != self._revision:
                self._is_on_disk = True
                self._remove()
            if revision != self._revision or not is_done:
                self._write_soon()

    # in a thread

    def _read(self) -> dict[bytes, Kind]:
        path = self._home.first_answers
        with contextlib.suppress(OSError, ValueError):
            program, inputs, kinds = decode(read_own(path, 2 * MAX_BYTES))
            if is_own(path) and (program, inputs) == (self._program, _signed(self._inputs())):
                return kinds
        return {}

    def _put(self, kinds: dict[bytes, Kind], settings: bytes | None) -> bool:
        """Writes the file, and clears kinds of which an input has changed unnoticed.

        Returns:
            False if one of the inputs has changed so lately that its next change might not show.
        """
        inputs, now = _signed(self._inputs()), time.time()
        for kind in kinds.values():
            signed = _signed(kind.inputs)
            if any(before not in (UNSIGNED, signed[path]) for path, before in kind.inputs.items()):
                kind.answers.clear()
            kind.inputs.update(signed)  # which the kind keeps
        if any(abs(now - changed_at(path)) < SETTLED_S for path in (*inputs, *(path for kind in kinds.values() for path in kind.inputs))):
            return False
        try:
            content = encode(self._program, inputs, {facts: kind for facts, kind in kinds.items() if kind.answers})
            if content != self._written and _read(self._home.settings) == settings:  # else a change by hand is on its way
                write_atomically(self._home.first_answers, content)
                self._written = content
        except OSError as error:
            logger.info("the first answers for AI clients cannot be kept for the next start: %s", error)
        return True

    def _inputs(self) -> Iterator[Path]:
        home = self._home
        yield from (home.settings, home.names, home.trust, home.inmemory_trust, home.stopped, home.skills, home.catalogue)


def _with_inputs(kind: Kind, inputs: dict[str, bytes]) -> Kind:
    """Returns a kind with its answers, if all of them may depend on the inputs of a further one; a new kind if it is of another project.

    Args:
        inputs: empty while the project of a session is not known yet.
    """
    if not inputs or kind.inputs.keys() == inputs.keys():
        return kind
    return Kind(inputs, {} if kind.inputs else kind.answers)


def _signed(paths: Iterable[StrPath]) -> dict[str, bytes]:
    return {str(path): signature(path) for path in paths}


def _read(path: Path) -> bytes | None:
    with contextlib.suppress(FileNotFoundError):
        return read_regular(path)
    return None
