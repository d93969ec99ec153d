"""Signing in to remote servers: which servers have tokens, which sign-ins are under way, and the authorization of requests. Tokens are
bound to a server's URL and `oauth` settings: when either changes, or the server is removed, they are deleted."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial

from tooltray.config.settings.expansion import ResolvedServer
from tooltray.config.settings.mcp_conf_helper import EntriesEdited, McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import NotFound, Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.questions import SignInSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import Spawn
from tooltray.servers.sign_ins.server_access import ServerAccess, Target, binding_of, make_client, target_of, why_no_sign_in
from tooltray.servers.sign_ins.sign_in_flow import LIMIT_S, SignInFlow
from tooltray.servers.sign_ins.tokens import Tokens, TokenStore
from tooltray.servers.transports.transport import Authorization
from tooltray.servers.upstream.server_manager import ServerManager

CHALLENGE_WITHIN_S = 15.0  # for a server to send its challenge before a sign-in; most do at once, and most sign-ins do not need it
REVOKED_WITHIN_S = 10.0  # for the revocation of deleted tokens, which expire anyway
CLOSED_WITHIN_S = 5.0  # for renewals and the keyring when the hub ends

ResolveTarget = Callable[[str, MCPServerConfig], Awaitable[Target]]


class SignIns:
    """The sign-ins of all servers. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        store: TokenStore,
        servers: Callable[[], ServerManager],
        resolve_target: ResolveTarget,
        bus: EventBus,
        spawn: Spawn,
        limit_s: float = LIMIT_S,
    ) -> None:
        """
        Args:
            servers: returns the ServerManager, which is made later.
            resolve_target: makes the target of a sign-in by the user; see `server_access`.
            limit_s: how many seconds the user may take to sign in.
        """
        self._config, self._store, self._servers, self._resolve_target = config, store, servers, resolve_target
        self._bus, self._spawn, self._limit_s = bus, spawn, limit_s
        self._accesses: dict[str, ServerAccess] = {}
        self._flows: dict[str, tuple[SignInFlow, asyncio.Task[object]]] = {}
        self._unsaved: dict[str, Problem] = {}
        self._storing: set[asyncio.Task[object]] = set()
        bus.subscribe(EntriesEdited, self._on_edited)
        bus.subscribe(ConfigChanged, self._on_config_changed)

    # for ServerSecrets

    @property
    def kept(self) -> Mapping[str, str]:
        """Returns the servers with tokens, each with the binding of its tokens."""
        return {**self._store.kept, **{server: access.target.binding for server, access in self._accesses.items() if access.tokens}}

    async def forget(self, server: str) -> None:
        """Ends the sign-in of a removed server, deletes its tokens, and revokes them in the background.

        Raises:
            TooltrayError: the tokens could not be deleted from the secrets.
        """
        access = self._end(server)
        await self._store.forget(server)
        self._revoke_soon(access)

    # for ServerRenames

    async def copy(self, before: str, after: str) -> None:
        """Stores the tokens of a server under its new name, too, before it has that name: a keyring may ask the user first, and refuse.

        Raises:
            TooltrayError: the secrets cannot be reached.
        """
        await self._store.copy(before, after)

    def rename(self, before: str, after: str) -> Awaitable[None]:
        """Gives the sign-in of a server to its new name, with tokens that were not stored yet; a sign-in that is under way ends
        with the old one.

        Returns:
            The rest, which deletes the tokens under the old name. It raises TooltrayError if it cannot.
        """
        self._unsaved.pop(before, None)
        if access := self._accesses.pop(before, None):
            access.rename(after)
            self._accesses[after] = access
            if access.tokens and not access.target.signs_in_itself:
                self._keep(access, access.tokens)
        return self._store.forget(before)

    # verbs

    async def begin(self, server: str) -> SignInSnapshot:
        access = self._access(await self._resolve_target(server, self._servers().get(server).config))
        with contextlib.suppress(TooltrayError):  # stored tokens cannot be read; the user signs in again
            await self._load(access)
        flow, _ = self._flows.get(server, (None, None))
        if flow is None or flow.is_over or flow.access is not access:
            flow = self._begin(access)
        return await flow.wait_for_page()

    async def finish(self, server: str, callback_url: str | None = None) -> None:
        self._servers().get(server)
        flow, _ = self._flows.get(server, (None, None))
        if flow is None:
            raise NotFound(
                Phrase("no sign-in to '{server}' has begun", server=server),
                hint=Phrase("Begin one: tooltray servers sign-in {server}", server=server),
            )
        if callback_url is not None and not flow.is_over:
            await flow.paste(callback_url)
        await flow.wait_until_over()

    async def cancel(self, server: str) -> None:
        self._servers().get(server)
        await self._end_flow(server)

    async def sign_out(self, server: str) -> None:
        self._servers().get(server)
        if not self.is_signed_in(server):
            raise NotFound(Phrase("you are not signed in to '{server}'", server=server))
        await self._end_flow(server)
        access = None
        with contextlib.suppress(TooltrayError):  # the settings cannot be filled in; stored tokens are deleted all the same
            access = await self._known_access(server)
        await self._store.forget(server)
        self._unsaved.pop(server, None)
        tokens = access.take() if access else None
        await self._servers().stop(server)
        self._tell_changed(server)
        if access and tokens:
            await self._revoke(access, tokens)

    def is_signed_in(self, server: str) -> bool:
        access, config = self._accesses.get(server), self._config.settings.mcp_servers.get(server)
        if access and access.is_loaded:
            return access.tokens is not None and not access.target.signs_in_itself
        return server in self._store.kept and config is not None and self._store.kept[server] == binding_of(config)

    def has_page(self, server: str) -> bool:
        flow, _ = self._flows.get(server, (None, None))
        return flow is not None and flow.page is not None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Returns the problems of sign-ins whose tokens could not be stored or deleted."""
        return tuple(self._unsaved.values())

    async def close(self) -> None:
        """Ends open sign-ins, waits for renewals, and tries again to store what could not be stored before; in bounded time."""
        for server in tuple(self._flows):
            await self._end_flow(server)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSED_WITHIN_S):
                await asyncio.gather(*(access.finish_renewal() for access in self._accesses.values()))
                self._try_again()
                while self._storing:
                    await asyncio.wait(self._storing)

    # for ServerManager

    async def authorization(
        self, server: str, config: MCPServerConfig, resolved: ResolvedServer, environ: Mapping[str, str]
    ) -> Authorization | None:
        """Returns the authorization of a server's requests; None if its settings provide it, or if it cannot have a sign-in.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: there are tokens, but the secrets cannot be read.
        """
        if why_no_sign_in(server, config, resolved):
            return None
        access = self._access(target_of(server, config, resolved, environ))
        await self._load(access)
        return access

    async def settled_authorization(
        self, server: str, config: MCPServerConfig, resolved: ResolvedServer, environ: Mapping[str, str]
    ) -> Authorization | None:
        """Returns the authorization for an entry that is tried out: the server's existing sign-in, if the entry leads to the same place."""
        now = self._config.settings.mcp_servers.get(server)
        if now is None or binding_of(now) != binding_of(config):
            return None
        return await self.authorization(server, config, resolved, environ)

    # for ServerAccess

    def _on_tokens(self, access: ServerAccess, tokens: Tokens | None) -> None:
        server = access.target.server
        if tokens:
            self._store.hide(server, tokens)
        if self._accesses.get(server) is not access:
            return
        if tokens is None:
            self._forget(server)
        elif not access.target.signs_in_itself:  # tokens of client_credentials can be requested again at any time
            self._keep(access, tokens)
        self._tell_changed(server)

    def _on_sign_in_needed(self, access: ServerAccess, problem: Problem) -> None:
        if self._accesses.get(access.target.server) is access:
            self._servers().require_sign_in(access.target.server, problem)

    # accesses

    def _access(self, target: Target) -> ServerAccess:
        known = self._accesses.get(target.server)
        if known and (known.target.binding, known.target.url) == (target.binding, target.url):
            known.retarget(target)
            return known
        if known:
            self._cancel_flow(target.server)  # its sign-in is for another URL
        made = self._accesses[target.server] = ServerAccess(
            target, on_tokens=self._on_tokens, on_sign_in_needed=self._on_sign_in_needed, make_client=make_client, spawn=self._spawn
        )
        return made

    async def _load(self, access: ServerAccess) -> None:
        """Loads the stored tokens once; tokens of a renewal or sign-in that ends meanwhile take precedence."""
        if access.is_loaded:
            return
        tokens = await self._store.load(access.target.server, access.target.binding)
        if not access.is_loaded:
            access.load(tokens if tokens and tokens.is_for(access.target.url) else None)

    async def _known_access(self, server: str) -> ServerAccess:
        """Returns a server's access with its tokens loaded, to revoke them.

        Raises:
            TooltrayError: the server's settings cannot be filled in, or the secrets cannot be read.
        """
        access = self._accesses.get(server) or self._access(await self._resolve_target(server, self._servers().get(server).config))
        await self._load(access)
        return access

    async def _revoke(self, access: ServerAccess, tokens: Tokens) -> None:
        """Revokes tokens, best effort: they are already deleted here."""
        with contextlib.suppress(TooltrayError, TimeoutError):
            async with asyncio.timeout(REVOKED_WITHIN_S):
                await (await access.client()).revoke(tokens)

    # sign-ins

    def _begin(self, access: ServerAccess) -> SignInFlow:
        server = access.target.server
        flow = SignInFlow(
            access,
            find_challenge=partial(self._find_challenge, access),
            on_changed=partial(self._tell_changed, server),
            limit_s=self._limit_s,
        )
        task = self._spawn(self._carry_out(flow), name=f"sign-in to '{server}'")
        task.add_done_callback(flow.on_done)
        self._flows[server] = (flow, task)
        return flow

    async def _carry_out(self, flow: SignInFlow) -> None:
        await flow.run()
        server = self._servers().find(flow.server)
        if flow.error is None and server and self._may_start(server.config):
            await self._servers().start_soon(flow.server)

    async def _find_challenge(self, access: ServerAccess) -> None:
        """Starts the server to get its challenge: some servers name their authorization server only there."""
        server = self._servers().get(access.target.server)
        is_known = access.challenge is not None or access.tokens is not None
        is_asked = server.state in (ServerState.RUNNING, ServerState.NEEDS_SIGN_IN)
        if not is_known and not is_asked and server.first and self._may_start(server.config):
            with contextlib.suppress(TooltrayError):
                await server.first.running(timeout_s=CHALLENGE_WITHIN_S)

    def _may_start(self, config: MCPServerConfig) -> bool:
        return self._config.settings.mcp_enabled and not config.disable

    async def _end_flow(self, server: str) -> None:
        if task := self._cancel_flow(server):
            await asyncio.wait({task})

    def _cancel_flow(self, server: str) -> "asyncio.Task[object] | None":
        """Cancels a server's sign-in and returns its task, if there is one."""
        _, task = self._flows.get(server, (None, None))
        if task:
            task.cancel()  # without effect on a task that is done
        return task

    # the store

    def _keep(self, access: ServerAccess, tokens: Tokens) -> None:
        server = access.target.server
        work = self._store.save(server, access.target.binding, tokens, is_wanted=lambda: access.tokens is tokens)
        self._store_soon(work, server, f"the sign-in to '{server}' will be lost when Tooltray ends")

    def _forget(self, server: str) -> None:
        self._store_soon(self._store.forget(server), server, f"the ended sign-in to '{server}' is still stored")

    def _try_again(self) -> None:
        """Retries to store and delete tokens that failed before: the keyring may be unlocked now."""
        for server in self._unsaved:
            access = self._accesses.get(server)
            if access and access.tokens:
                self._keep(access, access.tokens)
            else:
                self._forget(server)

    def _store_soon(self, work: Coroutine[None, None, None], server: str, otherwise: str) -> None:
        """Stores or deletes tokens in the background: no request waits for a keyring, which may ask the user first.

        Args:
            work: the coroutine that does it.
            otherwise: the title of the problem if it fails.
        """
        task = self._spawn(self._store_logged(work, server, otherwise), name=f"save the sign-in to '{server}'")
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)

    async def _store_logged(self, work: Coroutine[None, None, None], server: str, otherwise: str) -> None:
        try:
            await work
            self._unsaved.pop(server, None)
        except TooltrayError as error:
            message = f"{error.problem.title}: {error.problem.message}".removesuffix(": ")
            problem = Problem(otherwise, message, error.problem.hint)
            if server not in self._unsaved:
                self._bus.publish(ProblemReported(problem, server))
            self._unsaved[server] = problem

    def _on_edited(self, event: EntriesEdited) -> None:
        settings, kept = self._config.settings.mcp_servers, self.kept
        for server in event.servers:
            if server in kept and server in settings and binding_of(settings[server]) != kept[server]:
                self._drop(server)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        settings = self._config.settings.mcp_servers
        for server in [server for server in self._flows if server not in settings]:
            self._cancel_flow(server)
            del self._flows[server]
        for server, access in list(self._accesses.items()):
            if server in settings and binding_of(settings[server]) != access.target.binding:
                self._end(server)  # stored tokens stay, in case the server's settings change back

    def _drop(self, server: str) -> None:
        access = self._end(server)
        self._forget(server)
        self._revoke_soon(access)

    def _end(self, server: str) -> ServerAccess | None:
        """Cancels a server's sign-in, and removes and returns its access."""
        self._unsaved.pop(server, None)
        self._cancel_flow(server)
        self._flows.pop(server, None)
        return self._accesses.pop(server, None)

    def _revoke_soon(self, access: ServerAccess | None) -> None:
        if access and (tokens := access.take()):
            self._spawn(self._revoke(access, tokens), name=f"revoke the tokens of '{access.target.server}'")

    def _tell_changed(self, server: str) -> None:
        self._servers().publish_changed(server)


class SignInsApi:
    def __init__(self, *, sign_ins: SignIns) -> None:
        self._sign_ins = sign_ins

    async def begin_sign_in(self, name: str) -> SignInSnapshot:
        """Begins to sign in to a server; the caller shows the page to the user, and `finish_sign_in` waits for the outcome.

        A sign-in that has begun already continues: its page is returned again.

        Raises:
            TooltrayError: the server does not exist, it needs no sign-in, or its authorization server cannot be used; gives the reason.
        """
        return await self._sign_ins.begin(name)

    async def finish_sign_in(self, name: str, callback_url: str | None = None) -> None:
        """Waits until the user has signed in; the server is then started.

        Args:
            callback_url: the address at which the browser ended, where it could not reach this computer.

        Raises:
            TooltrayError: none has begun, the user or the authorization server refused, or there was no answer in time.
        """
        await self._sign_ins.finish(name, callback_url)

    async def cancel_sign_in(self, name: str) -> None:
        """Ends a sign-in that waits for the user; a waiting `finish_sign_in` fails."""
        await self._sign_ins.cancel(name)

    async def sign_out(self, name: str) -> None:
        """Deletes a server's tokens, revokes them where the authorization server allows that, and stops the server.

        Raises:
            NotFound: no sign-in to this server exists.
            TooltrayError: the secrets cannot be reached.
        """
        await self._sign_ins.sign_out(name)
