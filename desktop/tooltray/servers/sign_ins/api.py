"""The API about signing in to servers elsewhere."""

from tooltray.foundation.snapshots.questions import SignInSnapshot
from tooltray.servers.sign_ins.sign_ins import SignIns


class SignInsApi:
    def __init__(self, *, sign_ins: SignIns) -> None:
        self._sign_ins = sign_ins

    async def begin_sign_in(self, name: str) -> SignInSnapshot:
        """Begins to sign in to a server; whoever calls shows the page to the person, and `finish_sign_in` waits for the outcome.

        A sign-in that has begun already goes on: its page is returned again.

        Raises:
            TooltrayError: there is no such server, it needs no sign-in, or its authorization server cannot be used; says why.
        """
        return await self._sign_ins.begin(name)

    async def finish_sign_in(self, name: str, callback_url: str | None = None) -> None:
        """Waits until the person has signed in; the server is then started.

        Args:
            callback_url: the address at which the browser ended, where it could not reach this machine.

        Raises:
            TooltrayError: none has begun, the person or the authorization server refused, or nobody answered in time.
        """
        await self._sign_ins.finish(name, callback_url)

    async def cancel_sign_in(self, name: str) -> None:
        """Ends a sign-in that waits for the person; who waits for it is told so."""
        await self._sign_ins.cancel(name)

    async def sign_out(self, name: str) -> None:
        """Forgets a server's tokens, here and (where it can be told) at the authorization server, and stops the server.

        Raises:
            NotFound: nobody is signed in to such a server.
            TooltrayError: the secrets cannot be reached.
        """
        await self._sign_ins.sign_out(name)
