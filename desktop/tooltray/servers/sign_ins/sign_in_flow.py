"""One sign-in of the user, from discovery to the tokens: provides the page for the browser and waits for the browser's return. Opens no
browser: the caller does. SignIns runs it in its own task, so that no caller has to wait for it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.questions import SignInSnapshot
from tooltray.servers.sign_ins.authorization_client import check_sender
from tooltray.servers.sign_ins.callback_listener import CallbackListener, callback_params
from tooltray.servers.sign_ins.failures import SignInUnanswered
from tooltray.servers.sign_ins.server_access import ServerAccess

LIMIT_S = 600.0  # time enough to find a password and a second factor


class SignInFlow:
    """One sign-in.

    Attributes:
        access: receives the tokens.
        error: why the sign-in failed; None after a success. Valid once it is over.
    """

    def __init__(
        self,
        access: ServerAccess,
        *,
        find_challenge: Callable[[], Awaitable[None]],
        on_changed: Callable[[], None],
        limit_s: float = LIMIT_S,
    ) -> None:
        """
        Args:
            find_challenge: makes the server send its challenge, if it is not known yet.
            on_changed: called when the page is known, and when the sign-in is over.
            limit_s: how many seconds the user may take.
        """
        self.access, self._find_challenge, self._on_changed, self._limit_s = access, find_challenge, on_changed, limit_s
        self.server = access.target.server
        self._page: SignInSnapshot | None = None
        self.error: TooltrayError | None = TooltrayError(
            Phrase("the sign-in to '{server}' failed", server=self.server), Phrase("an internal error; see the log")
        )
        self._listener = CallbackListener(server=self.server)
        self._state, self._pasted = "", dict[str, str]()
        self._ready, self._over = asyncio.Event(), asyncio.Event()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    @property
    def page(self) -> SignInSnapshot | None:
        """Returns the page to open in the browser while the sign-in waits for the user; else None."""
        return None if self.is_over else self._page

    async def wait_for_page(self) -> SignInSnapshot:
        """Waits for the page to open in the browser.

        Raises:
            TooltrayError: the sign-in failed before; the error gives the reason.
        """
        await self._ready.wait()
        if self._page is None:
            assert self.error  # the sign-in is over
            raise self.error
        return self._page

    async def wait_until_over(self) -> None:
        """Waits for the end.

        Raises:
            TooltrayError: the sign-in failed; the error gives the reason.
        """
        await self._over.wait()
        if self.error:
            raise self.error

    async def paste(self, address: str) -> None:
        """Takes the redirect address that the user copied from a browser on another computer.

        Raises:
            TooltrayError: the address does not belong to this sign-in.
        """
        params = callback_params(self.server, address)
        if self.page is None or params.get("state") != self._state:
            hint = Phrase("Give the whole address that the browser shows after the sign-in that was begun last.")
            raise TooltrayError(Phrase("this address does not belong to the sign-in to '{server}'", server=self.server), hint=hint)
        self._pasted = dict(params)
        await self._listener.close()

    async def run(self) -> None:
        """Carries out the sign-in, once; a failure is stored in `error`."""
        try:
            await self._sign_in()
            self.error = None
        except TooltrayError as error:
            self.error = error
        except asyncio.CancelledError:
            self.error = self._cancelled()
            raise
        finally:
            await self._listener.close()
            self._end()

    def on_done(self, task: "asyncio.Task[object]") -> None:
        """Ends the sign-in if its task was cancelled before the first step; a callback for the task that runs `run`."""
        if not self.is_over:
            self.error = self._cancelled()
            self._end()

    def _end(self) -> None:
        self._over.set()
        self._ready.set()
        self._on_changed()

    def _cancelled(self) -> TooltrayError:
        return TooltrayError(Phrase("the sign-in to '{server}' was cancelled", server=self.server))

    async def _sign_in(self) -> None:
        access = self.access
        await self._find_challenge()
        client = await access.client()
        preferred = client.registration.redirect_port if client.registration else 0
        redirect_uri = await self._listener.open(access.target.settings.redirect_port, preferred=preferred)
        held = access.tokens.scopes if access.tokens else ()
        pending = await client.begin(redirect_uri=redirect_uri, challenge=access.challenge, scopes=held)
        self._listener.expect(pending.state, partial(check_sender, self.server, pending))
        self._show(pending.url, pending.state)
        access.adopt(await client.finish(pending, await self._answer()))

    def _show(self, url: str, state: str) -> None:
        self._state = state
        self._page = SignInSnapshot(self.server, url, time.time() + self._limit_s)
        self._ready.set()
        self._on_changed()

    async def _answer(self) -> Mapping[str, str]:
        """Waits for the browser's parameters; an address pasted by the user closes the listener and replaces them."""
        try:
            return await self._listener.wait(self._state, self._limit_s)
        except SignInUnanswered:
            if self._pasted:
                return self._pasted
            raise
