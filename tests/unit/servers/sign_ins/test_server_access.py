"""The target of a sign-in, and the authorization of requests."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fakes.heard import Record

from tooltray.config.settings.expansion import ResolvedServer
from tooltray.config.settings.server_config import MCPServerConfig, OAuthSettings
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.sign_ins.authorization_client import AuthorizationClient
from tooltray.servers.sign_ins.server_access import ServerAccess, Target, binding_of, target_of, why_no_sign_in
from tooltray.servers.sign_ins.tokens import Registration, Tokens
from tooltray.servers.sign_ins.web_requests import AuthorizationRefused, AuthorizationUnreachable, SignInExpired
from tooltray.servers.transports.transport import NotAuthorized, Refusal

NOW = 1_000_000.0
URL, ISSUER = "https://far.example/mcp", "https://sign-in.example"
GOOD = Tokens("first", "renewing", NOW + 3600, ("a",), URL, URL, ISSUER, f"{ISSUER}/token", None, Registration(ISSUER, "client"))
UNREACHABLE = AuthorizationUnreachable("far", "no answer")


def config(**fields: Any) -> MCPServerConfig:
    return MCPServerConfig.model_validate({"url": URL, **fields})


def resolved(url: str, **headers: str) -> ResolvedServer:
    return ResolvedServer(None, (), {}, None, url, headers, (), None)


@pytest.mark.parametrize(
    "url", [URL, " https://far.example ", "https://far.example/@team?mail=a@b", "https://far.example?a@b", "http://[::1]:8/"]
)
def test_a_server_elsewhere_can_have_a_sign_in(url: str) -> None:
    assert why_no_sign_in("far", config(), resolved(url, **{"X-Team": "a"})) is None


@pytest.mark.parametrize("url", ["https://ann@far.example/mcp", "https://ann:pw@far.example", "http://10.0.0.1/", "nonsense", ""])
def test_a_url_that_signs_in_itself_or_is_read_by_others_cannot(url: str) -> None:
    assert why_no_sign_in("far", config(), resolved(url))


def test_a_binding_is_of_where_and_as_whom_and_of_nothing_else() -> None:
    usual = binding_of(config())
    assert binding_of(config(descriptions="x", headers={"A": "b"}, isolation="session")) == usual
    assert len({usual, binding_of(config(url=URL + "2")), binding_of(config(oauth={"clientId": "c"})), binding_of(config(oauth={}))}) == 4


def test_a_target_has_everything_filled_in() -> None:
    target = target_of("far", config(), resolved(f" {URL} "), {"A": "b"})
    assert (target.url, target.environ, target.signs_in_itself) == (URL, {"A": "b"}, False)


def test_tokens_of_older_versions_stay_bound_and_those_for_another_resource_do_not() -> None:
    assert binding_of(config(oauth={"clientId": "me"})) == "2ea7b8b112cbcd23d117618e0294dd5f"
    assert binding_of(config(oauth={"clientId": "me", "sendResource": False})) != "2ea7b8b112cbcd23d117618e0294dd5f"


class Played:
    """The authorization server, and all who hear of the access.

    Attributes:
        answer: what the next renewal brings, once `may_answer`.
    """

    def __init__(self, keeper: TaskKeeper, tokens: Tokens | None = GOOD, **settings: Any) -> None:
        target = Target("far", "binding", URL, OAuthSettings.model_validate(settings), {})
        self.access = ServerAccess(
            target,
            on_tokens=self.on_tokens,
            on_sign_in_needed=self.on_sign_in_needed,
            make_client=self._make,
            spawn=keeper.spawn,
            clock=lambda: self.now,
        )
        self.access.load(tokens)
        self.now = NOW
        self.made: list[Registration | None] = []
        self.targets: list[str | None] = []
        self.may_make = asyncio.Event()
        self.may_make.set()
        self.registration: Registration | None = None
        self.asked: Record[tuple[Any, ...]] = Record()
        self.told: list[Tokens | None] = []
        self.needed: list[Problem] = []
        self.answer: Tokens | TooltrayError = replace(GOOD, access_token="second", refresh_token="renewing-2")
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def _make(self, target: Target, registration: Registration | None) -> AuthorizationClient:
        await self.may_make.wait()
        self.made.append(registration)
        self.targets.append(target.settings.client_secret)
        client: Any = self
        return client  # type: ignore[no-any-return]

    async def refresh(self, tokens: Tokens) -> Tokens:
        return await self._answered("refresh", tokens)

    async def client_credentials(self, challenge: str | None, scopes: Iterable[str] = ()) -> Tokens:
        return await self._answered("client_credentials", challenge, tuple(scopes))

    async def revoke(self, tokens: Tokens) -> None:
        self.asked.add(("revoke", tokens))

    async def _answered(self, *asked: Any) -> Tokens:
        self.asked.add(asked)
        await self.may_answer.wait()
        if isinstance(self.answer, TooltrayError):
            raise self.answer
        return self.answer

    def on_tokens(self, access: ServerAccess, tokens: Tokens | None) -> None:
        self.told.append(tokens)

    def on_sign_in_needed(self, access: ServerAccess, problem: Problem) -> None:
        self.needed.append(problem)


@pytest.fixture
async def keeper() -> Any:
    keeper = TaskKeeper()
    yield keeper
    await keeper.close()


def refused(sent: str | None = "Bearer first", status: int = 401, challenge: str = "Bearer", *, is_second: bool = False) -> Refusal:
    return Refusal(status, challenge, sent, is_second)


async def test_a_good_token_is_sent_as_it_is_and_nobody_is_asked(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    assert await played.access.header() == played.access.held == "Bearer first"
    assert played.made == []


async def test_without_a_token_nothing_is_sent(keeper: TaskKeeper) -> None:
    assert await Played(keeper, None).access.header() is None


async def test_a_token_that_ends_within_a_minute_is_renewed_first_and_once_for_all(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    played.now = NOW + 3541
    played.may_answer.clear()
    asking = [keeper.spawn(played.access.header(), name="asks") for _ in range(5)]
    await played.asked.wait()
    asking[0].cancel()  # who gives up takes nothing from the others
    played.may_answer.set()
    assert await asyncio.gather(*asking[1:]) == ["Bearer second"] * 4
    assert played.asked.all == [("refresh", GOOD)]
    assert played.told == [played.answer]
    assert played.made == [GOOD.registration]


async def test_a_token_that_nothing_renews_is_sent_until_it_is_refused(keeper: TaskKeeper) -> None:
    played = Played(keeper, replace(GOOD, refresh_token=None))
    played.now = NOW + 4000
    assert await played.access.header() == "Bearer first"
    with pytest.raises(NotAuthorized, match="wants you to sign in"):
        await played.access.renew(refused())
    assert len(played.needed) == 1
    assert played.told == []  # kept: a person may still want to start it again


async def test_while_the_renewal_cannot_be_had_a_token_serves_to_its_end(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    played.answer, played.now = UNREACHABLE, NOW + 3599
    assert await played.access.header() == "Bearer first"
    played.now = NOW + 3600
    with pytest.raises(NotAuthorized) as thrown:
        await played.access.header()
    assert (thrown.value.is_temporary, played.needed, played.told) == (True, [], [])


async def test_what_was_renewed_meanwhile_is_sent_again_without_another_renewal(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    assert await played.access.renew(refused("Bearer older"))
    assert not await played.access.renew(refused("Bearer older", is_second=True))
    assert played.asked.all == []


async def test_a_sign_in_that_has_ended_is_forgotten_and_a_person_is_asked(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    played.answer = SignInExpired("far", "it was revoked")
    with pytest.raises(NotAuthorized, match="has ended") as thrown:
        await played.access.renew(refused())
    assert not thrown.value.is_temporary
    assert (played.access.tokens, played.told) == (None, [None])
    assert "it was revoked" in played.needed[0].message


async def test_an_expired_sign_in_that_has_ended_lets_no_request_out(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    played.answer, played.now = SignInExpired("far", ""), NOW + 3590
    with pytest.raises(NotAuthorized):
        await played.access.header()
    assert played.needed[0].message == "the sign-in to 'far' has ended"


@pytest.mark.parametrize("outcome", ["renewed", "ended"])
async def test_who_signs_in_while_old_tokens_are_renewed_keeps_the_new_ones(keeper: TaskKeeper, outcome: str) -> None:
    played = Played(keeper)
    played.answer = played.answer if outcome == "renewed" else SignInExpired("far", "")
    played.may_answer.clear()
    renewing = keeper.spawn(played.access.header(), name="renews")
    played.now = NOW + 3590
    await played.asked.wait()
    newest = replace(GOOD, access_token="newest", expires_at=NOW + 7200)
    played.access.adopt(newest)
    played.may_answer.set()
    assert await renewing == "Bearer newest"
    assert (played.access.tokens, played.needed) == (newest, [])


async def test_more_rights_are_a_persons_to_give_and_the_wish_is_remembered(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    challenge = 'Bearer error="insufficient_scope", scope="a b"'
    with pytest.raises(NotAuthorized, match="it requires more scopes: a b"):
        await played.access.renew(refused(status=403, challenge=challenge))
    assert played.access.challenge == challenge
    with pytest.raises(NotAuthorized, match=r"it requires more scopes\."):
        await played.access.renew(refused(status=403, challenge='Bearer error="insufficient_scope"'))
    played.access.adopt(GOOD)
    assert played.access.challenge is None


@pytest.mark.parametrize(("status", "challenge"), [(403, ""), (403, "Bearer"), (401, 'Basic realm="a, bearers"'), (401, "Digest x=y")])
async def test_what_no_sign_in_helps_is_left_alone(keeper: TaskKeeper, status: int, challenge: str) -> None:
    played = Played(keeper)
    assert not await played.access.renew(refused(status=status, challenge=challenge))
    assert (played.asked.all, played.needed) == ([], [])


@pytest.mark.parametrize("challenge", ["", "bearer", 'Basic realm="a", Bearer scope="b"'])
async def test_a_refusal_that_names_no_other_way_is_about_the_token(keeper: TaskKeeper, challenge: str) -> None:
    assert await Played(keeper).access.renew(refused(challenge=challenge))


async def test_a_client_with_credentials_needs_nobody(keeper: TaskKeeper) -> None:
    machine = {"grant": "client_credentials", "clientId": "c", "clientSecret": "dummy"}
    played = Played(keeper, None, **machine)
    assert await played.access.renew(refused(None, challenge='Bearer scope="x"'))
    assert played.access.held == "Bearer second"
    assert not await played.access.renew(refused("Bearer second", is_second=True))
    played.answer = AuthorizationRefused("far", "who are you")
    with pytest.raises(NotAuthorized, match="who are you"):
        await played.access.renew(refused("Bearer second"))
    assert [asked[1:] for asked in played.asked.all] == [('Bearer scope="x"', ()), ("Bearer", ("a",))]
    assert (played.needed, played.access.held) == ([], "Bearer second")


async def test_at_the_hubs_end_a_renewal_is_finished_and_none_begins(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    played.may_answer.clear()
    renewing = keeper.spawn(played.access.renew(refused()), name="renews")
    await played.asked.wait()
    ending = keeper.spawn(played.access.finish_renewal(), name="ends")
    played.may_answer.set()
    await ending
    assert played.told == [played.answer]
    assert await renewing
    with pytest.raises(NotAuthorized, match="ending"):
        await played.access.renew(refused("Bearer second"))
    await played.access.finish_renewal()
    assert len(played.asked.all) == 1


async def test_two_who_need_the_client_at_once_get_the_same(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    one, two = await asyncio.gather(played.access.client(), played.access.client())
    assert one is two


def test_no_token_and_no_secret_shows_in_a_text(keeper: TaskKeeper) -> None:
    target = Target(
        "far", "binding", "https://far.example/dummy-key", OAuthSettings(client_id="c", client_secret="dummy-secret"), {"K": "v"}
    )
    assert "dummy" not in repr(target) + repr(refused("Bearer dummy"))


async def test_new_tokens_that_come_after_a_sign_out_are_ended_there_too(keeper: TaskKeeper) -> None:
    played = Played(keeper)
    played.may_answer.clear()
    renewing = keeper.spawn(played.access.renew(refused()), name="renews")
    await played.asked.wait()
    assert played.access.take() == GOOD
    played.may_answer.set()
    await renewing
    assert played.access.tokens is None
    assert played.told == []
    assert played.asked.all == [("refresh", GOOD), ("revoke", played.answer)]


async def test_a_secret_that_was_replaced_counts_from_the_next_renewal_on(keeper: TaskKeeper) -> None:
    played = Played(keeper, client_id="me", client_secret="old")
    await played.access.client()
    played.access.retarget(replace(played.access.target))
    await played.access.client()
    changed = replace(played.access.target, settings=OAuthSettings(client_id="me", client_secret="new"))
    played.access.retarget(changed)
    played.access.retarget(changed)
    client: Any = await played.access.client()
    assert client is played
    assert played.targets == ["old", "new"]
    assert played.access.tokens == GOOD


async def test_a_client_that_is_made_while_its_secret_is_replaced_is_made_anew(keeper: TaskKeeper) -> None:
    played = Played(keeper, client_id="me", client_secret="old")
    played.may_make.clear()
    making = keeper.spawn(played.access.client(), name="makes")
    await asyncio.sleep(0)
    played.access.retarget(replace(played.access.target, settings=OAuthSettings(client_id="me", client_secret="new")))
    played.may_make.set()
    await making
    await played.access.client()
    assert played.targets == ["old", "new"]
