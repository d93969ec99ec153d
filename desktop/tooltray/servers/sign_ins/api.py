"""The verbs for signing in to remote servers."""

from tooltray.foundation.snapshots.questions import SignInSnapshot
from tooltray.servers.sign_ins.sign_ins import SignIns


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
