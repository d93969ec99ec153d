"""instance.py, instance_status.py"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fakes.exchanges import exchange_of
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import Record
from tests.fakes.hub_parts import QUICK, Client, loaded
from tests.fakes.manual_wheel import ManualWheel
from tests.fakes.scripted_server import Copy, ScriptedServer, error, never

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import EventBus, KeyringAwaited
from tooltray.foundation.snapshots.servers import AWAITS_KEYRING, ServerState
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import Era
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.transport import ConnectionFailure
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.instance_status import TRANSITIONS, Failure, Program
from tooltray.servers.upstream.start_limits import Patience, StartLimits
from tooltray.servers.upstream.upstream_services import UpstreamServices

STOPPED, ON_DEMAND, STARTING, INSTALLING, RUNNING, RESTARTING, STOPPING, ERROR = (
    ServerState[name] for name in ["STOPPED", "ON_DEMAND", "STARTING", "INSTALLING", "RUNNING", "RESTARTING", "STOPPING", "ERROR"]
)
LONG_PAUSES = replace(QUICK, restart_after_s=(60.0, 60.0, 60.0))


class Life:
    """One instance, and every state it entered.

    Attributes:
        on_state: called in the moment a state is entered.
        make: makes the transport; the scripted server by default.
    """

    def __init__(
        self,
        server: ScriptedServer,
        *,
        patience: Patience = QUICK,
        wants: Era = Era.MODERN,
        is_launcher: bool = False,
        is_remote: bool = False,
        start_timeout_s: float | None = None,
        needs_secrets: bool = False,
        mask: Callable[[str], str] = str,
    ) -> None:
        self.server = server
        self.keeper = TaskKeeper()
        self.tasks: list[asyncio.Task[Any]] = []
        self.states: Record[ServerState] = Record()
        self.details: list[str] = []
        self.said: Record[Any] = Record()
        self.failures: list[Failure] = []
        self.on_state: dict[ServerState, Callable[[], None]] = {}
        self.make: Callable[[], Any] = lambda: server(name="s")
        self.is_first_start = self.is_known_legacy = False
        self.bus = EventBus()
        wheel: Any = ManualWheel()
        unused: Any = None
        self.instance = Instance(
            program=lambda: Program(
                name="s",
                make_transport=self._make_transport,
                needs_secrets=needs_secrets,
                is_launcher=is_launcher,
                is_remote=is_remote,
                start_timeout_s=start_timeout_s,
                is_known_legacy=self.is_known_legacy,
                is_first_start=self.is_first_start,
            ),
            wants=wants,
            services=UpstreamServices(
                bus=self.bus,
                deadlines=wheel,
                spawn=self.keeper.spawn,
                eras=unused,
                mask=mask,
                patience=patience,
            ),
            on_changed=self._on_changed,
            on_failed=lambda instance, failure: self.failures.append(failure),
            on_notification=lambda instance, method, params: self.said.add((instance, method, loaded(params))),
        )

    async def stopping(self) -> "asyncio.Task[Any]":
        """Its stop, which ends with `server.may_end`."""
        self.server.may_end.clear()
        stop = self.spawn(self.instance.stop())
        await self.server.closing.wait()
        return stop

    async def _make_transport(self) -> Any:
        return self.make()

    def _on_changed(self, instance: Instance) -> None:
        before = self.states.all[-1] if self.states.all else STOPPED
        self.details.append(instance.status.detail)
        if instance.state is before:  # only its detail is another one
            self.states.look()
            return
        assert instance.state in TRANSITIONS[before]
        self.states.add(instance.state)
        if act := self.on_state.get(instance.state):
            act()

    def spawn(self, work: Any) -> "asyncio.Task[Any]":
        self.tasks.append(asyncio.create_task(work))
        return self.tasks[-1]

    async def run(self) -> Copy:
        await self.instance.running(timeout_s=10)
        return self.server.copy

    async def close(self) -> None:
        self.server.may_end.set()
        await self.instance.stop()
        assert not self.server.running
        await self.keeper.close()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def state(self, state: ServerState, *, count: int = 1) -> None:
        await self.states.wait(lambda each: each is state, count=count)

    def die_when_running(self, times: int = 1000) -> None:
        left = iter(range(times))
        self.on_state[RUNNING] = lambda: self.server.copy.die() if next(left, None) is not None else None


async def turns() -> None:
    """Until whatever could happen by itself has happened."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
async def live() -> AsyncIterator[Callable[..., Life]]:
    lives: list[Life] = []

    def _live(server: ScriptedServer | None = None, **options: Any) -> Life:
        lives.append(Life(server or ScriptedServer(), **options))
        return lives[-1]

    yield _live
    for life in lives:
        await life.close()


@pytest.fixture
def life(live: Callable[..., Life]) -> Life:
    return live()


def test_every_state_has_its_way_out_and_leads_nowhere_unknown() -> None:
    assert set(TRANSITIONS) == set(ServerState)
    assert all(targets and targets <= set(ServerState) and state not in targets for state, targets in TRANSITIONS.items())


def test_a_crash_is_followed_by_another_try_after_1_2_and_4_seconds_and_a_minute_of_health_counts_anew() -> None:
    patience = Patience()
    assert patience.restart_after_s == (1.0, 2.0, 4.0)
    assert patience.healthy_after_s == 60.0
    assert (patience.start_limit_s, patience.slow_after_s, patience.remote_retry_after_s[-1]) == (300.0, 45.0, 300.0)


# starting


async def test_a_start_shows_that_it_waits_for_the_keyring_and_only_if_it_needs_secrets(live: Callable[..., Life]) -> None:
    for needs_secrets in (True, False):
        life, prompt, is_asked = live(needs_secrets=needs_secrets), asyncio.Event(), asyncio.Event()

        async def make(prompt: asyncio.Event = prompt, is_asked: asyncio.Event = is_asked, life: Life = life) -> Any:
            is_asked.set()
            await prompt.wait()
            return life.server(name="s")

        life._make_transport = make  # type: ignore[method-assign]
        running = life.spawn(life.run())
        await is_asked.wait()
        for is_awaited in (False, True, True):
            life.bus.publish(KeyringAwaited(is_awaited=is_awaited))
        shown = [AWAITS_KEYRING] if needs_secrets else []
        assert [each for each in life.details if each] == shown
        prompt.set()
        await running
        life.bus.publish(KeyringAwaited(is_awaited=True))
        assert [each for each in life.details if each] == shown
        assert life.instance.status.detail == ""


async def test_a_start_that_fails_after_a_prompt_waits_for_it_no_longer(live: Callable[..., Life]) -> None:
    life = live(needs_secrets=True)

    def make() -> Any:
        life.bus.publish(KeyringAwaited(is_awaited=True))
        assert life.instance.status.detail == AWAITS_KEYRING
        raise CannotStart("The keyring is locked")

    life.make = make
    with pytest.raises(TooltrayError, match="The keyring is locked"):
        await life.run()
    assert AWAITS_KEYRING not in life.instance.status.detail


async def test_it_starts_runs_and_stops(life: Life) -> None:
    instance = life.instance
    client = await instance.running(timeout_s=10)
    assert instance.client is client
    assert instance.pids == life.server.copy.pids != ()
    assert (instance.exit_code, instance.problem) == (None, None)
    await instance.stop()
    assert (instance.client, instance.pids, instance.exit_code) == (None, (), 0)
    assert life.failures == []  # somebody wanted that
    assert life.states.all == [STARTING, RUNNING, STOPPING, STOPPED]


async def test_its_process_is_known_before_it_has_greeted(life: Life) -> None:
    life.server.handlers["initialize"] = never
    life.instance.start()
    await life.server.request("initialize")
    assert life.instance.client is None
    assert life.instance.pids == life.server.copy.pids != ()


async def test_two_starts_at_once_make_one_process(life: Life) -> None:
    life.instance.start()
    life.instance.start()
    first, second = await asyncio.gather(life.instance.running(timeout_s=10), life.instance.running(timeout_s=10))
    assert first is second
    life.instance.start()
    assert len(life.server.copies.all) == 1


async def test_it_may_be_told_to_stop_before_it_took_its_first_step(life: Life) -> None:
    life.instance.start()
    await life.instance.stop()
    assert life.states.all == [STARTING, STOPPING, STOPPED]
    await life.run()
    assert len(life.server.copies.all) == 1


async def test_who_gives_up_waiting_does_not_stop_it(life: Life) -> None:
    go_on = life.server.hold("initialize")
    waiting = life.spawn(life.instance.running(timeout_s=10))
    await life.server.request("initialize")
    waiting.cancel()
    go_on.set()
    await life.state(RUNNING)
    assert len(life.server.copies.all) == 1


@in_fake_time
async def test_waiting_is_bounded_and_says_what_it_does() -> None:
    life = Life(ScriptedServer())
    life.server.handlers["initialize"] = never
    with pytest.raises(TooltrayError, match=r"server 's' is not running: it is starting. Try again in a moment"):
        await life.instance.running(timeout_s=0.02)
    assert life.instance.state is STARTING
    await life.close()


async def test_a_server_that_does_not_greet_in_its_time_is_tried_again_and_given_up(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, start_limit_s=0.01))
    life.server.handlers["server/discover"] = never
    with pytest.raises(TooltrayError, match=r"'s' did not answer. No answer within 0.01 s. It may not be an MCP server"):
        await life.instance.running(timeout_s=10)
    assert life.states.all == [STARTING, RESTARTING] * 3 + [STARTING, ERROR]
    assert len(life.server.copies.all) == 4


async def test_an_entry_can_give_a_server_longer_to_answer(live: Callable[..., Life]) -> None:
    impatient = replace(QUICK, start_limit_s=0.0, start=StartLimits(silent_s=0.0, check_every_s=0.0))
    life = live(patience=impatient, start_timeout_s=5.0)
    await life.run()
    await turns()
    assert life.instance.state is RUNNING
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "start of 's'"], "it runs, and is not watched any more"


async def test_a_server_that_is_silent_for_longer_than_that_has_failed(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, start=StartLimits(silent_s=0.0, check_every_s=0.0)))
    life.server.handlers["server/discover"] = never
    with pytest.raises(TooltrayError, match="'s' does not answer"):
        await life.instance.running(timeout_s=10)


async def test_a_server_known_to_be_legacy_is_greeted_without_a_probe(life: Life) -> None:
    life.is_known_legacy = True
    await life.run()
    assert life.server.count("server/discover") == 0


@pytest.mark.parametrize("exit_code", [0, 1])
async def test_a_server_that_ends_at_the_probe_is_greeted_in_the_legacy_way_at_once(live: Callable[..., Life], exit_code: int) -> None:
    life = live(patience=LONG_PAUSES)
    life.server.handlers["server/discover"] = lambda copy, params: copy.die(exit_code=exit_code)
    client = await life.instance.running(timeout_s=10)
    assert client.era is Era.LEGACY
    assert [asked.method for asked in life.server.asked.all[:2]] == ["server/discover", "initialize"]
    assert life.states.all == [STARTING, RUNNING]
    assert not life.failures


async def test_a_server_that_ends_at_every_greeting_is_probed_once_until_somebody_starts_it_again(life: Life) -> None:
    life.server.handlers["server/discover"] = life.server.handlers["initialize"] = lambda copy, params: copy.die("no API key")
    for _ in range(2):
        with pytest.raises(TooltrayError, match="no API key"):
            await life.instance.running(timeout_s=10)
        assert [failure.attempt for failure in life.failures] == [1, 2, 3, 4]
        assert [asked.method for asked in life.server.asked.all] == ["server/discover", *["initialize"] * 4]
        life.failures.clear()
        life.server.asked.all.clear()


async def test_a_server_that_refuses_initialize_and_ends_at_the_probe_is_not_started_for_ever(live: Callable[..., Life]) -> None:
    life = live(server=ScriptedServer(eras=()))
    life.server.handlers["server/discover"] = lambda copy, params: copy.die()
    with pytest.raises(TooltrayError, match="could not be opened"):
        await life.instance.running(timeout_s=10)
    assert life.failures[-1].attempt == 4


@pytest.mark.parametrize(
    "failure",
    [
        ConnectionFailure(Problem("'s' needs API_KEY"), is_lasting=True, how="It ended with exit code 1", words="API_KEY is not set"),
        ConnectionFailure(Problem("nothing answers at host:1")),  # no process: it is elsewhere
    ],
)
async def test_an_end_at_the_probe_that_has_another_reason_is_a_failure(live: Callable[..., Life], failure: ConnectionFailure) -> None:
    life = live(patience=replace(QUICK, restart_after_s=()))

    def end(copy: Copy, params: Any) -> None:
        copy.failure = failure
        copy.die()

    life.server.handlers["server/discover"] = end
    with pytest.raises(TooltrayError, match=failure.problem.title):
        await life.instance.running(timeout_s=10)
    assert life.server.count("initialize") == 0


async def test_an_end_at_the_probe_without_a_word_may_be_one_of_a_legacy_server(life: Life) -> None:

    def end(copy: Copy, params: Any) -> None:
        copy.failure = ConnectionFailure(Problem("'s' ended at once"), is_lasting=True, how="It ended with exit code 0")
        copy.die(exit_code=0)

    life.server.handlers["server/discover"] = end
    assert (await life.instance.running(timeout_s=10)).era is Era.LEGACY


async def test_a_launcher_is_said_to_be_installing_at_its_first_start_only(live: Callable[..., Life]) -> None:
    life = live(is_launcher=True)
    life.is_first_start = True
    life.on_state[RUNNING] = lambda: setattr(life, "is_first_start", False)
    await life.run()
    life.server.copy.die()
    await life.state(RUNNING, count=2)
    await life.instance.stop()
    await life.run()
    assert [state for state in life.states.all if state in (STARTING, INSTALLING)] == [INSTALLING, STARTING, STARTING]


async def test_a_program_that_is_no_launcher_is_never_installing(life: Life) -> None:
    life.is_first_start = True
    await life.run()
    assert INSTALLING not in life.states.all


# failing


async def test_a_server_that_dies_is_started_again_and_calls_that_come_meanwhile_wait_for_it(life: Life) -> None:
    await life.run()
    go_on = life.server.hold("initialize")
    life.server.copy.die("out of cheese", exit_code=3)
    await life.state(RESTARTING)
    problem = life.instance.problem
    assert problem is not None
    assert str(problem) == "'s' ended: server 's' ended with exit code 3: out of cheese"
    waiting = life.spawn(life.instance.running(timeout_s=10))
    await life.server.request("initialize", count=2)
    assert life.instance.exit_code == 3
    go_on.set()
    assert (await waiting).transport is life.server.copies.all[1]
    assert life.instance.problem is None


async def test_after_three_restarts_in_a_row_it_is_given_up(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, restart_after_s=(0.001, 0.002, 0.003)))
    await life.run()
    life.die_when_running()
    life.server.copy.die("out of cheese")
    await life.state(ERROR)
    assert life.states.all == [STARTING, RUNNING, RESTARTING] + [STARTING, RUNNING, RESTARTING] * 2 + [STARTING, RUNNING, ERROR]
    assert [detail for detail in life.details if detail] == [f"Restarting in 0.00{number} s" for number in (1, 2, 3)]
    with pytest.raises(TooltrayError, match="out of cheese"):
        await life.instance.running(timeout_s=10)


async def test_every_failure_is_told_with_its_number_and_how_the_process_ended(life: Life) -> None:
    life.die_when_running()
    with pytest.raises(TooltrayError):
        await life.run()
    assert [(each.attempt, each.is_start, each.exit_code) for each in life.failures] == [(n, False, 1) for n in (1, 2, 3, 4)]
    assert "out of cheese" in life.failures[0].problem.message


async def test_a_process_that_ends_before_it_has_greeted_is_told_with_its_exit_code(life: Life) -> None:
    life.server.handlers["initialize"] = lambda copy, params: copy.die("no key", exit_code=7)
    with pytest.raises(TooltrayError):
        await life.run()
    assert {(each.is_start, each.exit_code) for each in life.failures} == {(True, 7)}


async def test_a_start_that_fails_is_told_as_one_each_time(life: Life) -> None:
    life.server.fails_to_open = TooltrayError("out of reach")
    with pytest.raises(TooltrayError):
        await life.run()
    assert [(each.attempt, each.is_start, each.exit_code) for each in life.failures] == [(n, True, None) for n in (1, 2, 3, 4)]
    life.failures.clear()
    life.make = lambda: fail(TooltrayError("a secret is missing"))
    with pytest.raises(TooltrayError):
        await life.run()
    [failure] = life.failures
    assert (failure.attempt, failure.is_start, failure.problem.title) == (1, True, "a secret is missing")


def fail(error: Exception) -> Any:
    raise error


async def test_a_healthy_run_counts_anew(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, healthy_after_s=0.0))
    await life.run()
    for count in range(2, 8):
        life.server.copy.die()
        await life.state(RUNNING, count=count)
    assert ERROR not in life.states.all


async def test_somebody_who_acts_gets_all_tries_again(life: Life) -> None:
    life.die_when_running(times=7)
    life.instance.start()
    await life.state(ERROR)
    await life.run()
    assert len(life.server.copies.all) == 8


@in_fake_time
async def test_a_copy_that_dies_in_the_moment_it_runs_keeps_those_waiting_who_waited_for_it() -> None:
    life, began = Life(ScriptedServer()), asyncio.get_running_loop().time()
    life.die_when_running(times=1)
    client = await life.instance.running(timeout_s=10)
    assert client.transport is life.server.copies.all[1]
    assert asyncio.get_running_loop().time() == began
    await life.close()


@pytest.mark.parametrize("problem", [TooltrayError("variable KEY is not set"), CannotStart("command 'x' not found")])
async def test_what_trying_again_would_not_mend_is_given_up_at_once(life: Life, problem: TooltrayError) -> None:

    def fail() -> Any:
        raise problem

    life.make = fail
    with pytest.raises(TooltrayError, match=f"server 's' is not running: {problem.problem.title}"):
        await life.instance.running(timeout_s=10)
    assert life.states.all == [STARTING, ERROR]
    assert life.instance.problem == problem.problem
    assert life.instance.exit_code is None


async def test_a_server_that_speaks_another_protocol_is_tried_again(life: Life) -> None:
    answers = iter([{"protocolVersion": "1999-01-01"}])

    def initialize(copy: Copy, params: Any) -> Any:
        return next(answers, None) or {"protocolVersion": "2025-06-18", "capabilities": {}}

    life.server.handlers["initialize"] = initialize
    await life.run()
    assert life.states.all == [STARTING, RESTARTING, STARTING, RUNNING]


async def test_a_server_that_refuses_the_era_is_given_up_at_once_and_says_so(live: Callable[..., Life]) -> None:
    life = live(ScriptedServer(eras=("modern",)), wants=Era.LEGACY)
    with pytest.raises(TooltrayError, match="does not speak the legacy protocol"):
        await life.instance.running(timeout_s=10)
    assert life.instance.status.is_era_refused
    assert life.states.all == [STARTING, ERROR]
    life.server.eras = ("legacy",)
    await life.run()
    assert not life.instance.status.is_era_refused


@pytest.mark.expected_warnings("running 's' failed")
async def test_a_bug_of_ours_is_an_error_that_nobody_waits_for(life: Life, caplog: pytest.LogCaptureFixture) -> None:

    def fail() -> Any:
        raise RuntimeError("a bug")

    life.make = fail
    with pytest.raises(TooltrayError, match="'s' could not be run"):
        await life.instance.running(timeout_s=10)
    assert life.states.all == [STARTING, ERROR]
    assert "RuntimeError: a bug" in caplog.text


class BadEnd(Copy):
    """Ends with a bug of ours."""

    async def close(self) -> None:
        await super().close()
        raise RuntimeError("a bug")


@pytest.mark.expected_warnings("running 's' failed", "task \"end 's'\" failed")
@pytest.mark.parametrize("case", ["restarting", "error", "stopping"])
async def test_a_bug_while_a_process_is_ended_leaves_no_state_behind(live: Callable[..., Life], case: str) -> None:
    life = live(patience=replace(QUICK, restart_after_s=() if case == "error" else (0.0,)))

    def make() -> Any:
        copy = BadEnd(life.server, "s", None, deque(), str)
        life.server.copies.add(copy)
        return copy

    life.make = make
    await life.run()
    if case == "stopping":
        await life.instance.stop()
        assert life.states.all == [STARTING, RUNNING, STOPPING, STOPPED]
        return
    life.server.copy.die()
    await life.state(ERROR)
    assert life.states.all == [STARTING, RUNNING, *([RESTARTING] if case == "restarting" else []), ERROR]


# stopping


async def test_stopping_what_does_not_run_changes_nothing(life: Life) -> None:
    await life.instance.stop()
    assert life.states.all == []


async def test_it_can_wait_for_its_first_use_instead_of_being_stopped(life: Life) -> None:
    life.instance.set_idle_state(ON_DEMAND)
    life.instance.set_idle_state(ON_DEMAND)
    assert not life.instance.status.is_stopped
    await life.run()
    life.instance.set_idle_state(STOPPED)  # for later
    assert life.instance.state is RUNNING
    await life.instance.stop(then=ON_DEMAND)
    await life.instance.stop()
    assert life.instance.status.is_stopped
    assert life.states.all == [ON_DEMAND, STARTING, RUNNING, STOPPING, ON_DEMAND, STOPPED]


async def test_it_can_be_stopped_while_it_starts(life: Life) -> None:
    life.server.handlers["initialize"] = never
    waiting = life.spawn(life.instance.running(timeout_s=10))
    await life.server.request("initialize")
    await life.instance.stop()
    assert not life.server.running
    with pytest.raises(TooltrayError, match="it is stopp"):
        await waiting
    assert life.states.all == [STARTING, STOPPING, STOPPED]


async def test_it_can_be_stopped_while_it_installs(live: Callable[..., Life]) -> None:
    life = live(is_launcher=True)
    life.is_first_start = True
    life.server.handlers["initialize"] = never
    life.instance.start()
    await life.server.request("initialize")
    await life.instance.stop()
    assert life.states.all == [INSTALLING, STOPPING, STOPPED]


async def test_it_can_be_stopped_between_two_tries(live: Callable[..., Life]) -> None:
    life = live(patience=LONG_PAUSES)
    await life.run()
    life.server.copy.die()
    await life.state(RESTARTING)
    await life.server.closing.wait()
    await life.instance.stop()
    assert life.states.all == [STARTING, RUNNING, RESTARTING, STOPPING, STOPPED]
    assert len(life.server.copies.all) == 1


async def test_the_rest_of_a_dead_copy_is_ended_also_when_it_is_stopped_meanwhile(live: Callable[..., Life]) -> None:
    life = live(patience=LONG_PAUSES)
    await life.run()
    life.server.may_end.clear()
    life.server.copy.is_open = True
    life.server.copy.die()
    await life.server.closing.wait()
    life.server.copy.is_open = True  # something of it is still there
    stopping = life.spawn(life.instance.stop())
    await life.state(STOPPING)
    await turns()
    assert not stopping.done()
    life.server.may_end.set()
    await stopping
    assert life.server.running == []


async def test_it_can_be_stopped_when_it_was_given_up(life: Life) -> None:
    life.server.fails_to_open = CannotStart("no")
    life.instance.start()
    await life.state(ERROR)
    await life.server.closing.wait()
    await life.instance.stop()
    assert life.states.all[-1] is STOPPED
    assert life.instance.problem is None


async def test_it_can_be_stopped_while_what_was_given_up_still_ends(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, restart_after_s=()))
    await life.run()
    life.server.may_end.clear()
    life.server.copy.die()
    await life.server.closing.wait()
    assert life.instance.state is ERROR
    stopping = life.spawn(life.instance.stop())
    await life.state(STOPPING)
    life.server.may_end.set()
    await stopping
    assert life.states.all == [STARTING, RUNNING, ERROR, STOPPING, STOPPED]


async def test_stopping_twice_at_once_stops_once(life: Life) -> None:
    await life.run()
    life.server.may_end.clear()
    first, second = life.spawn(life.instance.stop()), life.spawn(life.instance.stop(then=ON_DEMAND))
    await life.server.closing.wait()
    assert not life.instance.status.is_stopped  # the second one counts
    life.server.may_end.set()
    await asyncio.gather(first, second)
    assert life.states.all == [STARTING, RUNNING, STOPPING, ON_DEMAND]
    assert len(life.server.closing.all) == 1


async def test_a_stop_whose_caller_goes_away_is_carried_out_all_the_same(life: Life) -> None:
    await life.run()
    stopping = await life.stopping()
    stopping.cancel()
    await asyncio.wait({stopping})
    life.server.may_end.set()
    await life.state(STOPPED)
    await life.run()


async def test_where_it_rests_can_change_while_it_is_being_stopped(life: Life) -> None:
    await life.run()
    stopping = await life.stopping()
    assert life.instance.status.is_stopped
    life.instance.set_idle_state(ON_DEMAND)
    life.server.may_end.set()
    await stopping
    assert life.instance.state is ON_DEMAND


async def test_a_start_while_it_is_being_stopped_begins_when_the_old_process_has_ended(life: Life) -> None:
    await life.run()
    stopping = await life.stopping()
    waiting = life.spawn(life.instance.running(timeout_s=10))
    await turns()
    assert len(life.server.copies.all) == 1
    life.server.may_end.set()
    assert (await waiting).transport is life.server.copies.all[1]
    await stopping
    assert life.states.all == [STARTING, RUNNING, STOPPING, STOPPED, STARTING, RUNNING]


async def test_however_many_want_it_back_while_it_is_being_stopped_its_old_process_ends_first(life: Life) -> None:
    await life.run()
    stopping = await life.stopping()
    for _ in range(3):
        life.instance.start()
        await turns()
    assert len(life.server.copies.all) == 1
    life.server.may_end.set()
    assert (await life.instance.running(timeout_s=10)).transport is life.server.copies.all[1]
    await stopping


async def test_who_waits_for_it_gets_it_though_it_is_put_to_sleep_meanwhile(life: Life) -> None:
    go_on = life.server.hold("initialize")
    waiting = life.spawn(life.instance.running(timeout_s=10))
    await life.server.request("initialize")
    await life.instance.stop(then=ON_DEMAND)
    go_on.set()
    assert (await waiting).transport is life.server.copies.all[1]


async def test_the_last_word_counts_of_a_stop_a_start_and_a_stop(life: Life) -> None:
    await life.run()
    first = await life.stopping()
    waiting = life.spawn(life.instance.running(timeout_s=10))
    await turns()
    second = life.spawn(life.instance.stop())
    await turns()
    life.server.may_end.set()
    await asyncio.gather(first, second)
    with pytest.raises(TooltrayError, match="is not running"):
        await waiting
    assert life.states.all == [STARTING, RUNNING, STOPPING, STOPPED]


async def test_a_start_while_what_was_given_up_still_ends_begins_right_after(life: Life) -> None:
    life.server.fails_to_open = CannotStart("no")
    life.server.may_end.clear()
    life.instance.start()
    await life.server.closing.wait()
    assert life.instance.state is ERROR
    waiting = life.spawn(life.instance.running(timeout_s=10))
    await turns()
    life.server.fails_to_open = None
    life.server.may_end.set()
    await waiting
    assert life.states.all == [STARTING, ERROR, STARTING, RUNNING]


async def test_it_passes_on_what_the_server_says(life: Life) -> None:
    await life.run()
    life.server.copy.notify("notifications/tools/list_changed")
    assert await life.said.wait() == (life.instance, "notifications/tools/list_changed", {})


async def test_an_error_in_the_greeting_is_tried_again(life: Life) -> None:
    answers = iter([error(-32603, "database is locked")])
    life.server.handlers["initialize"] = lambda copy, params: next(answers, {"protocolVersion": "2025-06-18"})
    await life.run()
    assert life.states.all == [STARTING, RESTARTING, STARTING, RUNNING]


# why it failed, as its transport knows


def fails_with(life: Life, failure: ConnectionFailure) -> None:
    def die(copy: Copy, params: Any) -> None:
        copy.failure = failure
        copy.die()

    life.server.handlers["initialize"] = die


async def test_a_failure_that_would_come_again_is_given_up_at_once_with_its_reason(life: Life) -> None:
    failure = ConnectionFailure(Problem("file /x.py not found", "It says so", "Correct it."), is_lasting=True)
    fails_with(life, failure)
    with pytest.raises(TooltrayError, match=r"server 's' is not running: file /x\.py not found"):
        await life.run()
    assert life.states.all == [STARTING, ERROR]
    assert (life.instance.problem, life.instance.failure) == (failure.problem, failure)


async def test_a_failure_that_may_pass_is_tried_again_and_a_reason_without_facts_gets_what_was_said(life: Life) -> None:
    fails_with(life, ConnectionFailure(Problem("far.example has a fault of its own")))
    with pytest.raises(TooltrayError):
        await life.run()
    assert life.states.all == [STARTING, RESTARTING] * 3 + [STARTING, ERROR]
    assert life.instance.problem == Problem("far.example has a fault of its own", "server 's' ended with exit code 1: out of cheese")


async def test_another_protocol_behind_a_known_failure_is_said_with_it(life: Life) -> None:

    def answer(copy: Copy, params: Any) -> Any:
        copy.failure = ConnectionFailure(Problem("far.example refuses access"), is_lasting=True)
        return {"protocolVersion": "1999-01-01"}

    life.server.handlers["initialize"] = answer
    with pytest.raises(TooltrayError, match=r"far\.example refuses access. 's' speaks another protocol"):
        await life.run()


async def test_a_sign_in_that_is_wanted_goes_before_whatever_else_went_wrong(life: Life) -> None:

    def refuse(copy: Copy, params: Any) -> None:
        copy.failure = ConnectionFailure(Problem("refused"), is_lasting=True)
        life.instance.require_sign_in(Problem("sign in"))

    life.server.handlers["server/discover"] = refuse
    with pytest.raises(TooltrayError, match="sign in"):
        await life.run()
    assert life.states.all == [STARTING, ServerState.NEEDS_SIGN_IN]


@pytest.mark.parametrize(
    ("failure", "is_remote", "problem"),
    [
        (
            ConnectionFailure(Problem("x"), how="It ended with exit code 1", words="boom"),
            False,
            Problem("'s' ended: boom", "It ended with exit code 1"),
        ),
        (ConnectionFailure(Problem("x"), how="It ended with exit code 1"), False, Problem("'s' ended", "It ended with exit code 1")),
        (ConnectionFailure(Problem("far.example cannot be found", "why")), True, Problem("far.example cannot be found", "why")),
        (None, True, Problem("'s' ended", "server 's' ended with exit code 1: out of cheese")),
    ],
)
async def test_the_reason_why_a_server_that_ran_ended_stands_in_front(
    live: Callable[..., Life], failure: ConnectionFailure | None, is_remote: bool, problem: Problem
) -> None:
    life = live(patience=LONG_PAUSES, is_remote=is_remote)
    await life.run()
    life.server.copy.failure = failure
    life.server.copy.die()
    await life.state(RESTARTING)
    assert life.instance.problem == problem


async def test_no_secret_is_in_the_reason(live: Callable[..., Life]) -> None:
    life = live(mask=lambda text: text.replace("hunter2", "***"))
    fails_with(life, ConnectionFailure(Problem("the key hunter2 is wrong", "hunter2"), is_lasting=True))
    with pytest.raises(TooltrayError, match=r"the key \*\*\* is wrong. \*\*\*"):
        await life.run()


async def test_a_failure_that_is_told_already_is_known_as_such_until_it_has_run_or_somebody_acts(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, restart_after_s=(), remote_retry_after_s=(0.0,)), is_remote=True)
    repeated: list[bool] = []
    life.on_state[ERROR] = lambda: repeated.append(life.instance.status.is_repeated)
    life.server.fails_to_open = TooltrayError("out of reach")
    life.instance.start()
    await life.state(ERROR, count=3)
    life.server.fails_to_open = TooltrayError("refused")
    await life.states.until(lambda: life.instance.problem is not None and life.instance.problem.title == "refused")
    await life.instance.stop()
    life.instance.start()
    await life.states.until(lambda: life.states.all[-2:] == [STARTING, ERROR])
    assert repeated[:3] == [False, True, True]
    assert repeated.count(False) == 3


# what it does while it has not answered


class Printing:
    """A process that prints text and no message."""

    text, text_since, last_at, last_line, url = "Welcome!", 1.0, 1.0, "", ""


AT_ONCE = StartLimits(text_s=0.0, check_every_s=0.001)


def prints_text(life: Life) -> None:
    def make() -> Copy:
        copy = life.server(name="s")
        copy.output = Printing()
        return copy

    life.make = make
    life.server.handlers["server/discover"] = never


@pytest.mark.parametrize(("is_new", "states"), [(True, [STARTING, ERROR]), (False, [STARTING, RESTARTING] * 3 + [STARTING, ERROR])])
async def test_what_prints_text_in_place_of_messages_is_given_up_at_once_unless_it_was_seen_running(
    live: Callable[..., Life], is_new: bool, states: list[ServerState]
) -> None:
    life = live(patience=replace(QUICK, start=AT_ONCE))
    life.is_first_start = is_new
    prints_text(life)
    with pytest.raises(TooltrayError, match="'s' prints text where the protocol is expected: 'Welcome!'"):
        await life.instance.running(timeout_s=10)
    assert life.states.all == states


async def test_a_server_that_says_something_in_the_protocol_is_not_taken_for_one_that_prints(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, start=AT_ONCE))
    prints_text(life)
    life.server.handlers["server/discover"] = lambda copy, params: error(-32601, "no")
    go_on = life.server.hold("initialize")
    starting = life.spawn(life.instance.running(timeout_s=10))
    await life.server.request("initialize")
    for _ in range(50):
        await turns()
    assert not starting.done()
    go_on.set()
    await starting


async def test_what_a_download_writes_is_what_the_card_says(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, start=StartLimits(check_every_s=0.001)), is_launcher=True)
    life.is_first_start = True
    prints_text(life)
    life.server.handlers["server/discover"] = lambda copy, params: error(-32601, "no")
    life.server.hold("initialize")
    life.make = lambda: downloading(life.server(name="s"))
    life.instance.start()
    await life.states.until(lambda: life.instance.status.detail == "Downloading numpy")
    assert life.instance.state is INSTALLING


def downloading(copy: Copy) -> Copy:
    copy.output = Printing()
    copy.output.text, copy.output.last_line = "", "Downloading numpy"
    return copy


async def test_who_waits_until_it_is_settled_does_not_wait_for_what_rests(life: Life) -> None:
    await life.instance.settled()
    go_on = life.server.hold("initialize")
    life.instance.start()
    waiting = life.spawn(life.instance.settled())
    await life.server.request("initialize")
    assert not waiting.done()
    go_on.set()
    await waiting
    assert life.instance.state is RUNNING


# slow ones, and those that run elsewhere


async def test_a_start_that_takes_long_is_called_slow_while_it_goes_on(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, slow_after_s=0.0))
    go_on = life.server.hold("initialize")
    life.instance.start()
    await life.states.until(lambda: life.instance.status.detail != "")
    assert (life.instance.state, life.instance.status.detail) == (STARTING, "Slow: no answer for 0 s")
    go_on.set()
    await life.state(RUNNING)
    assert life.instance.status.detail == ""


async def test_what_has_been_stopped_is_not_called_slow(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, slow_after_s=0.0))
    life.server.handlers["initialize"] = never
    life.instance.start()
    await life.states.until(lambda: life.instance.status.detail != "")
    await life.instance.stop()
    await turns()
    assert (life.instance.state, life.instance.status.detail) == (STOPPED, "")


async def test_a_server_elsewhere_that_was_never_reached_is_told_at_once_and_tried_again_in_the_background(
    live: Callable[..., Life],
) -> None:
    life = live(patience=replace(QUICK, restart_after_s=(0.0,), remote_retry_after_s=(0.001,)), is_remote=True)
    life.server.fails_to_open = TooltrayError("out of reach")
    with pytest.raises(TooltrayError, match="out of reach"):
        await life.instance.running(timeout_s=10)
    await life.state(ERROR, count=3)
    life.server.fails_to_open = None
    await life.state(RUNNING)
    assert life.states.all == [STARTING, ERROR] * (len(life.states.all) // 2 - 1) + [STARTING, RUNNING]
    assert "Retrying in 0.001 s" in life.details


async def test_a_server_elsewhere_that_cannot_be_reached_this_way_is_not_tried_again(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, remote_retry_after_s=(0.0,)), is_remote=True)
    life.server.fails_to_open = CannotStart("it wants a sign-in")
    with pytest.raises(TooltrayError, match="it wants a sign-in"):
        await life.instance.running(timeout_s=10)
    await turns()
    assert life.states.all == [STARTING, ERROR]


async def test_who_starts_a_server_that_waits_for_its_next_try_does_not_wait_with_it(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, remote_retry_after_s=(3600.0,)), is_remote=True)
    life.server.fails_to_open = TooltrayError("out of reach")
    life.instance.start()
    await life.state(ERROR)
    await turns()
    life.server.fails_to_open = None
    await life.instance.running(timeout_s=10)
    assert life.states.all[-3:] == [ERROR, STARTING, RUNNING]


async def test_a_server_elsewhere_can_be_stopped_while_it_waits_for_its_next_try(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, remote_retry_after_s=(3600.0,)), is_remote=True)
    life.server.fails_to_open = TooltrayError("out of reach")
    life.instance.start()
    await life.state(ERROR)
    await turns()
    await life.instance.stop()
    assert life.states.all[-2:] == [STOPPING, STOPPED]


async def test_a_session_that_has_expired_is_opened_anew_at_once_and_is_no_failure(live: Callable[..., Life]) -> None:
    life = live(patience=replace(LONG_PAUSES, expiry_after_s=0.0), is_remote=True)
    for _ in range(5):  # more often than failures are forgiven
        copy = await life.run()
        copy.has_expired = True
        copy.die()
    await life.run()
    assert set(life.states.all) == {STARTING, RUNNING, RESTARTING}
    assert "Its session has expired; opens a new one" in life.details


async def test_a_start_in_the_moment_of_a_failure_begins_another_attempt_at_once(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, remote_retry_after_s=(3600.0,)), is_remote=True)
    life.server.fails_to_open = TooltrayError("out of reach")

    def start_again() -> None:
        life.server.fails_to_open = None
        life.instance.start()

    life.on_state[ERROR] = start_again
    life.instance.start()
    await life.state(RUNNING)


async def test_a_server_that_ends_with_0_after_each_piece_of_work_starts_again_and_has_not_failed(live: Callable[..., Life]) -> None:
    life = live(patience=LONG_PAUSES)
    for _ in range(5):  # more often than failures are forgiven
        await life.run()
        assert (client := life.instance.client) is not None
        assert (await client.call(exchange_of(Envelope(method="tools/list"), Client()), timeout_s=10)).result
        life.server.copy.die(exit_code=0)
    await life.run()
    assert (set(life.states.all), life.failures) == ({STARTING, RUNNING, RESTARTING}, [])


async def test_a_server_that_ends_with_0_and_never_answers_counts_as_failing(live: Callable[..., Life]) -> None:
    life = live(patience=QUICK)
    life.on_state[RUNNING] = lambda: life.server.copy.die(exit_code=0)
    life.instance.start()
    await life.state(ERROR)
    assert len(life.server.copies.all) == 4


async def test_a_server_that_forgets_every_session_at_once_counts_as_failing(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, remote_retry_after_s=(3600.0,)), is_remote=True)

    def expire() -> None:
        life.server.copy.has_expired = True
        life.server.copy.die()

    life.on_state[RUNNING] = expire
    life.instance.start()
    await life.state(ERROR)
    assert len(life.server.copies.all) == 4


async def test_a_connection_that_is_lost_is_no_connection_from_that_moment_on(life: Life) -> None:
    first = await life.instance.running(timeout_s=10)
    life.server.copy.die()
    assert (life.instance.client, life.instance.state) == (None, RUNNING)  # its owner has not been told yet
    second = await life.instance.running(timeout_s=10)
    assert second is not first
    assert life.instance.client is second


async def test_a_connection_is_opened_again_at_once_and_has_not_failed(live: Callable[..., Life]) -> None:
    life = live(patience=LONG_PAUSES)
    await life.run()
    life.instance.reopen("for a new extension")
    await life.run()
    assert (len(life.server.copies.all), life.failures) == (2, [])


async def test_only_an_open_connection_is_opened_again(life: Life) -> None:
    life.instance.reopen("nothing is open")
    life.server.handlers["initialize"] = never
    life.instance.start()
    await life.server.request("initialize")
    life.instance.reopen("it is being opened")
    await turns()
    assert (len(life.server.copies.all), life.states.all) == (1, [STARTING])


async def test_a_connection_that_was_to_be_opened_again_and_is_stopped_first_excuses_no_later_end(live: Callable[..., Life]) -> None:
    life = live(patience=LONG_PAUSES)
    await life.run()
    life.instance.reopen("for a new extension")
    await life.instance.stop()
    (await life.run()).die()
    await life.state(RESTARTING)
    assert [failure.attempt for failure in life.failures] == [1]


async def test_starts_and_a_stop_while_a_failed_process_ends_wait_for_its_end(live: Callable[..., Life]) -> None:
    life = live(patience=replace(QUICK, restart_after_s=()))
    life.die_when_running(1)
    life.server.may_end.clear()
    life.instance.start()
    await life.state(ERROR)
    life.instance.start()
    life.instance.start()
    stopping = life.spawn(life.instance.stop())
    await turns()
    assert not stopping.done()
    life.instance.start()
    life.server.may_end.set()
    await life.state(RUNNING, count=2)
    assert life.states.all == [STARTING, RUNNING, ERROR, STOPPING, STOPPED, STARTING, RUNNING]
    await stopping


async def test_what_a_user_starts_again_while_it_is_being_stopped_is_not_stopped(life: Life) -> None:
    await life.run()
    stopping = await life.stopping()
    assert life.instance.status.is_stopped
    life.instance.start()
    assert not life.instance.status.is_stopped
    life.server.may_end.set()
    await stopping
    await life.state(RUNNING, count=2)
