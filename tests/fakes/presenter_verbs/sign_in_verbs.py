"""FakePresenter's verbs about signing in to servers. Mixed into it."""

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory
from tests.fakes.server_snapshots import STARTED_AT

from tooltray.snapshots.questions import SignInSnapshot


class SignInVerbs(HubInMemory):
    async def begin_sign_in(self, name: str) -> SignInSnapshot:
        self._note("begin_sign_in", name)
        return SignInSnapshot(name, f"https://sign.in.example/{name}", STARTED_AT + 600)

    async def finish_sign_in(self, name: str, callback_url: str | None = None) -> None:
        self._note("finish_sign_in", name, callback_url)

    async def cancel_sign_in(self, name: str) -> None:
        self._note("cancel_sign_in", name)

    async def sign_out(self, name: str) -> None:
        self._note("sign_out", name)
