"""QtMcpPresenter's verbs about signing in to servers. Mixed into it."""

from tooltray.snapshots.questions import SignInSnapshot
from tooltray.ui.presenter.link import EngineLink


class SignInVerbs:
    _link: EngineLink

    async def begin_sign_in(self, name: str) -> SignInSnapshot:
        return await self._link.run(lambda engine: engine.begin_sign_in(name))

    async def finish_sign_in(self, name: str, callback_url: str | None = None) -> None:
        await self._link.run(lambda engine: engine.finish_sign_in(name, callback_url))

    async def cancel_sign_in(self, name: str) -> None:
        await self._link.run(lambda engine: engine.cancel_sign_in(name))

    async def sign_out(self, name: str) -> None:
        await self._link.run(lambda engine: engine.sign_out(name))
