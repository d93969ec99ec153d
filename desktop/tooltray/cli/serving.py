"""The hub's composition for `tooltray serve`: the engine, the signals that end it, and the messages when it starts or fails to.

It runs in the guardian's child, and knows nothing of servers, tools and sessions.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import IO

import msgspec

from tooltray.app.engine import Engine, HubFailed
from tooltray.app.hub import HubOptions, StartedBy
from tooltray.carriers.control.control_client import END_TIMEOUT_S, ControlClient
from tooltray.cli.run import FAILED, HUB_RUNNING, complain, silence_stdout
from tooltray.cli.speech import tr
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.home.hub_place import STOP_THERE, HubLock, HubRunning
from tooltray.foundation.installs.installations import bridge_entry_text
from tooltray.foundation.platform.guardian import REPLACED
from tooltray.foundation.runtime import new_event_loop, reporting_uncaught
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol import envelope
from tooltray.records.log.structured_log import StructuredLog
from tooltray.servers.launch.remembered_variables import is_started_in_terminal

logger = logging.getLogger(__name__)

EXIT_CODES = {"stdin": 0, "stop": 0, "hand_over": 0, "idle": 0, "replaced": REPLACED, "sigint": 130, "sigterm": 143}  # anything else is 1
REPLACE_TIMEOUT_S = END_TIMEOUT_S + 10.0  # one full handover, and another of a hub that a bridge started in between
RETRY_EVERY_S = 0.05  # seconds between tries while a hub that does not listen (yet, or any more) holds the lock
MAX_LINE_BYTES = 64 * 1024 * 1024  # as for all AI clients
_SIGNALS = {"SIGINT": "sigint", "SIGTERM": "sigterm", "SIGHUP": "sighup", "SIGBREAK": "sigterm"}  # the last one is Windows' Ctrl-Break


class Serving(msgspec.Struct, frozen=True):
    """How a hub is to be run.

    Attributes:
        is_stdio: one AI client is served on standard input and output; when it disconnects, the hub ends.
        server: with `is_stdio`, the only server to publish.
        is_replacing: a hub that runs already is asked to hand over.
        is_announced: prints what runs.
        execution_id: is in every log record.
    """

    home: Home
    is_stdio: bool = False
    server: str | None = None
    is_replacing: bool = False
    is_announced: bool = True
    execution_id: str = ""


def run_hub(args: argparse.Namespace, home: Home) -> int:
    """Runs a hub with these options and returns its exit code."""

    def options() -> HubOptions:
        return HubOptions(
            kind="serve",
            execution_id=args.execution_id,
            log_to_stderr=True,
            idle_exit_s=args.idle_exit,
            started_by=_started_by(args),
            configs=served_files(args.config),
            may_restart=None if args.stdio else lambda: True,  # the pipes of an AI client cannot be passed on
            project=project_folder(args.project) if args.project is not None else "",
        )

    serving = Serving(home, args.stdio, args.server, args.replace, is_announced=not args.started_by_bridge, execution_id=args.execution_id)
    return run_engine(serving, lambda: Engine(home, options()))  # an AI client gets errors in options, too


def _started_by(args: argparse.Namespace) -> StartedBy:
    if args.stdio:
        return "client"
    if args.started_by_bridge:
        return "bridge"
    return "terminal" if is_started_in_terminal() else "service"


def served_files(typed: Iterable[str]) -> tuple[str, ...]:
    """Returns the files of `--config`, absolute and each once: the hub may later leave the folder of this terminal.

    Raises:
        TooltrayError: a file does not exist.
    """
    paths = tuple(dict.fromkeys(os.path.abspath(os.path.expanduser(path)) for path in typed))
    for path in paths:
        if not os.path.exists(path):
            raise TooltrayError(
                tr("the config is not served"), tr("file {path} not found", path=path), tr("Use the path of a file with --config")
            )
    return paths


def project_folder(typed: str) -> str:
    """Returns the real path of the folder of `--project`.

    Raises:
        TooltrayError: it is not a folder.
    """
    path = os.path.realpath(os.path.expanduser(typed))
    if not typed or not os.path.isdir(path):
        raise TooltrayError(
            tr("the project cannot be served"),
            tr("folder {value} not found", value=path if typed else repr(typed)),
            tr("Use an existing folder with --project"),
        )
    return path


def run_engine(serving: Serving, make_engine: Callable[[], Engine]) -> int:
    """Runs an engine until it ends and returns the exit code; reports why it cannot start to a waiting client or user."""
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            return runner.run(_run_until_stopped(serving, make_engine))
    except HubRunning as error:
        code, said = HUB_RUNNING, _hub_running(error, serving.home)
    except HubFailed as error:  # an AI client on standard input has got its answer
        complain(error.problem, as_json=False)
        return FAILED
    except TooltrayError as error:
        code, said = FAILED, error
    except Exception as error:  # a bug before the hub's log was open, or after it was closed
        _record(serving, error)
        message = f"{type(error).__name__}: {error}"
        code, said = FAILED, TooltrayError(tr("Tooltray has failed"), message, tr("See the log for details."))
    complain(said.problem, as_json=False)
    if serving.is_stdio:
        refuse_requests(said, sys.stdin.buffer, sys.stdout.buffer)
    return code


def _record(serving: Serving, error: Exception) -> None:
    """Records an uncaught error, as the hub's own log would have."""
    log = StructuredLog(serving.home.logs, execution_id=serving.execution_id, to_stderr=True)
    log.start()
    log.error("nothing caught an error", error, component=__name__)
    log.close()


def _hub_running(error: HubRunning, home: Home) -> TooltrayError:
    if error.machine:
        return TooltrayError(
            tr("Another Tooltray is running in {root}, on {machine}", root=home.root, machine=error.machine), hint=STOP_THERE
        )
    pid = tr(" (pid {pid})", pid=error.pid) if error.pid else ""
    hint = tr("Take over from it with `tooltray serve --replace`, or stop it with `tooltray stop`")
    return TooltrayError(tr("Another Tooltray is running{pid} in {root}", pid=pid, root=home.root), hint=hint)


async def _run_until_stopped(serving: Serving, make_engine: Callable[[], Engine]) -> int:
    stops: list[str] = []  # the reasons, in the order of the signals; the engine may not exist yet
    engines: list[Engine] = []

    def on_signal(reason: str) -> None:
        stops.append(reason)
        for engine in engines:
            engine.request_stop(reason)

    with _signals_to(on_signal), reporting_uncaught(lambda: on_signal("failure")):
        engine = await _started(serving, make_engine)
        engines.append(engine)
        keeper = TaskKeeper()
        failures: list[TooltrayError] = []
        failed: HubFailed | None = None
        try:
            if serving.is_announced:
                announce(serving, engine.said)
            if serving.is_stdio:
                keeper.spawn(_serve_client(engine, serving.server, failures), name="client on stdin")
            reason = stops[0] if stops else await engine.serve()
        except HubFailed as error:
            failed, reason = error, "failure"
        except Exception:
            logger.exception("the hub failed")
            reason = "failure"
        finally:
            await engine.close()
            await keeper.close()
    if failed:
        raise failed
    if failures:
        raise failures[0]
    return EXIT_CODES.get(reason, FAILED)


async def _started(serving: Serving, make_engine: Callable[[], Engine]) -> Engine:
    """Starts an engine.

    Where another hub runs and is to be replaced, asks it to leave first, and repeats that if another hub starts in between. A command that
    holds the lock while no hub runs is waited for.

    Raises:
        HubRunning: another hub runs and is not to be replaced, or does not leave.
        TooltrayError: it cannot start.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + REPLACE_TIMEOUT_S
    no_bridge_starts_one = HubLock(serving.home.start_lock)
    try:
        while True:
            engine = make_engine()
            try:
                await engine.start()
            except HubRunning as running:
                is_hub = bool(running.machine) or await asyncio.to_thread(_listens, serving.home)
                if loop.time() > deadline or (is_hub and not serving.is_replacing):
                    raise
            except BaseException:
                await engine.close()
                raise
            else:
                return engine
            if serving.is_replacing:
                no_bridge_starts_one.try_take()
                await asyncio.to_thread(_ask_to_leave, serving.home)
            await asyncio.sleep(RETRY_EVERY_S)
    finally:
        no_bridge_starts_one.release()


def _listens(home: Home) -> bool:
    """Reports whether a listening hub, and not a command, holds the lock."""
    client = ControlClient.connect(home)
    if client is not None:
        client.close()
    return client is not None


def _ask_to_leave(home: Home) -> None:
    client = ControlClient.connect(home)
    if client is not None:
        with client:
            client.hand_over()


async def _serve_client(engine: Engine, server: str | None, failures: list[TooltrayError]) -> None:
    try:
        await engine.serve_stdio(server)
    except TooltrayError as error:
        failures.append(error)
        engine.request_stop("failure")
    except Exception:
        logger.exception("serving standard input failed")
        engine.request_stop("failure")
    else:
        engine.request_stop("stdin")


@contextlib.contextmanager
def _signals_to(handler: Callable[[str], None]) -> Iterator[None]:
    """Calls the handler in the loop with the name of each signal that asks to end, on every platform."""
    loop = asyncio.get_running_loop()
    known = {int(getattr(signal, name)): reason for name, reason in _SIGNALS.items() if hasattr(signal, name)}
    numbers = {number: reason for number, reason in known.items() if signal.getsignal(number) is not signal.SIG_IGN}  # as by nohup
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        signal.signal(number, lambda number, _: loop.call_soon_threadsafe(handler, numbers[number]))
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def announce(serving: Serving, also: Iterable[str] = ()) -> None:
    """Prints the running hub's facts and the entry for AI clients: on standard output, or, if that belongs to an AI client, on standard
    error. On standard error only for a terminal: otherwise it contains only JSON Lines.

    Args:
        also: more lines, about other endpoints of this hub.
    """
    if serving.is_stdio and not sys.stderr.isatty():
        return
    from tooltray import __version__

    lines = [
        tr("Tooltray {version} is running (pid {getpid}) in {root}.", version=__version__, getpid=os.getpid(), root=serving.home.root),
        *also,
        tr("Paste this into the config of an AI client:"),
        bridge_entry_text(serving.home),
        tr("Add a server with: tooltray servers add NAME -- COMMAND ARGS..."),
        tr("End it with Ctrl-C or: tooltray stop"),
    ]
    try:
        print("\n".join(lines), file=sys.stderr if serving.is_stdio else sys.stdout, flush=True)
    except OSError:  # no reader is left; the hub continues
        if not serving.is_stdio:
            silence_stdout()


def refuse_requests(error: TooltrayError, stdin: IO[bytes], stdout: IO[bytes]) -> None:
    """Answers each request of an AI client with the reason why nothing can be served, until the client leaves."""
    problem = error.problem
    data = {"title": problem.title, "message": problem.message, "hint": problem.hint}
    refusal = envelope.failure(envelope.INTERNAL_ERROR, str(error), data)
    with contextlib.suppress(OSError):
        while line := stdin.readline(MAX_LINE_BYTES):
            if not line.strip():
                continue
            try:
                message = envelope.decode(line)
                envelope.check_request(message)
            except envelope.MalformedFrame as fault:
                id, reply = fault.id, envelope.failure(fault.code, str(fault))
            else:
                id, reply = message.id, refusal
                if not (message.method and message.id):
                    continue  # a notification or a reply
            stdout.write(b"".join(envelope.reply_parts(id, reply)))
            stdout.flush()
