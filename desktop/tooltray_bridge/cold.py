"""The bridge's cold path: the time without a hub, and the texts for users. Here the whole standard library may be used.

A client that gets an error with the reason is better served than one whose server has vanished, so a bridge never gives up before its
client does. It starts a hub only when the client awaits an answer, or has one that the last hub has left: after `tooltray stop` the hub
stays stopped until a client needs it. The bridge also connects to a hub that another program has started.
"""

import errno
import json
import os
import sys
from contextlib import suppress
from time import monotonic

from tooltray_bridge import hot
from tooltray_bridge.start import HubStart, why_not

if sys.platform == "win32":
    from tooltray_bridge import paths_windows as paths
    from tooltray_bridge import relay_windows as platform
else:
    from tooltray_bridge import paths_posix as paths
    from tooltray_bridge import relay_posix as platform

EVERY_S = 0.02  # between attempts to connect to a hub that is being started
IDLE_FROM_S, IDLE_TO_S, IDLE_FACTOR = 0.05, 1.0, 1.5  # between attempts to connect while no request waits for a hub
PATIENCE_S = 2.0  # for a hub that the bridge may not start, but that may be on its way: updated, or starting with the session
REFUSE_FOR_S = 2.0  # after a start that failed, its reason also answers the next requests
KEPT_BYTES = 1 << 20  # of requests that wait for a hub, and of answers that the client has not read; beyond them the client is not read
QUICK_LOSS_S, QUICK_LOSSES = 1.0, 3  # a hub that hangs up so often without an answer is not going to serve this bridge
SLOWEST_RETRY_S = 5.0
INTERNAL_ERROR = -32603
NO_HUB = (errno.ENOENT, errno.ECONNREFUSED)  # no socket, or one that a dead hub has left

PURPOSE = "tooltray-bridge connects an AI client to Tooltray: the client starts it and speaks MCP on its standard input and output."
USAGE = f"""{PURPOSE}

usage: tooltray-bridge [--server NAME] [--profile NAME] [--home DIR] [--no-start]

  --server NAME   only the tools of this server, under its own names
  --profile NAME  only the servers and tools of this profile; see `tooltray profiles`
  --home DIR      Tooltray's home folder; default: TOOLTRAY_HOME, else ~/.tooltray
  --no-start      do not start Tooltray if it is not running
"""


def explain(arguments: list[str]) -> int:
    """Prints how to use the bridge; returns the exit code."""
    is_asked = "--help" in arguments or "-h" in arguments
    (sys.stdout if is_asked else sys.stderr).write(USAGE)
    return 0 if is_asked else 2


def main() -> int:
    """Runs the console script `tooltray-bridge`, for users: on a terminal it first prints its purpose."""
    if os.isatty(0) and hot.read_options(sys.argv[1:]):
        sys.stderr.write(PURPOSE + "\n")
    return hot.main(sys.argv[1:])


class Patience:
    """The stand-in for HubStart where the bridge may not start a hub: waits a moment in case another program starts one."""

    def __init__(self, reason: str) -> None:
        self._reason = reason
        self._until = monotonic() + PATIENCE_S

    def step(self) -> str:
        """Returns why there is no hub; empty while there is hope."""
        return self._reason if monotonic() >= self._until else ""

    def close(self) -> None:
        """Does nothing: there is nothing to detach."""


class Outage:
    """All periods without a hub in the life of one bridge.

    Attributes:
        exit_code: the bridge's exit code if its client leaves now.
    """

    def __init__(self, relay: platform.Relay, options: hot.Options, first: bytes) -> None:
        """
        Args:
            relay: has no hub; its tracker is offline.
            first: the hello line.
        """
        self.exit_code = 0
        self._relay, self._options, self._first = relay, options, first
        self._attempt: HubStart | Patience | None = None
        self._refusal, self._refusal_until = b"", 0.0
        self._found_at: float | None = None
        self._had_hub = relay.tracker.has_answered
        self._losses, self._pause_s = 0, EVERY_S
        self._obstacle: OSError | None = None  # why the last attempt to connect failed
        self._home = self._user_home = None
        with suppress(KeyError):
            self._home = paths.find_home(options.home, paths.ENVIRON)
            self._user_home = paths.own_home(paths.ENVIRON)

    def wait_for_hub(self) -> bool:
        """Waits until the relay is connected to a hub or the client has left; returns whether the relay is connected."""
        connect_at = monotonic() + self._pause_after_loss()
        pause_s = IDLE_FROM_S
        relay = self._relay
        while True:
            if relay.is_client_gone or relay.is_done:
                self._end_attempt()
                return False
            if monotonic() >= connect_at:
                has_use = relay.is_input_open or relay.tracker.is_awaiting
                if has_use and self._connect():
                    return True
                self._get_on()
            may_read = max(relay.tracker.kept_bytes, len(relay.to_client)) < KEPT_BYTES
            relay.wait(EVERY_S if self._attempt else pause_s, may_read=may_read)
            pause_s = min(pause_s * IDLE_FACTOR, IDLE_TO_S)

    def _pause_after_loss(self) -> float:
        """Returns the pause before the next attempt to connect, because even a hub that is about to exit may still accept a connection. The
        pause grows for a hub that hangs up at once."""
        if not self._relay.tracker.has_met_hub:
            return 0.0
        lived_s = monotonic() - self._found_at if self._found_at else QUICK_LOSS_S
        is_quick = lived_s < QUICK_LOSS_S and not self._relay.tracker.has_answered
        self._losses = self._losses + 1 if is_quick else 0
        if self._losses >= QUICK_LOSSES:
            self._refuse("Tooltray closes every connection at once. Its log has the reason; if its version differs, restart it")
        self._pause_s = min(self._pause_s * 2, SLOWEST_RETRY_S) if is_quick else EVERY_S
        return self._pause_s

    def _connect(self) -> bool:
        if self._home is None:
            return False
        try:
            hub = platform.connect(paths.socket_path(self._home))
        except OSError as error:
            self._obstacle = error
            return False
        self._end_attempt()
        self._had_hub = True
        self.exit_code, self._refusal_until, self._found_at = 0, 0.0, monotonic()
        self._relay.attach(hub, self._first + self._relay.tracker.hub_found())
        return True

    def _get_on(self) -> None:
        """Takes one step towards a running hub, if the client needs one."""
        if not self._relay.tracker.wants_hub:
            self._end_attempt()
        elif monotonic() < self._refusal_until:
            self._relay.tell_client(self._relay.tracker.refuse(self._refusal))
        else:
            self._attempt = self._attempt or self._new_attempt()
            if reason := self._attempt.step():
                self._end_attempt()
                self._refuse(reason)

    def _new_attempt(self) -> HubStart | Patience:
        if self._home is None or self._user_home is None:
            return Patience("The home folder was not found: HOME is not set, and the user database does not know this user. Set HOME")
        if self._obstacle and self._obstacle.errno not in NO_HUB:
            path = os.fsdecode(paths.socket_path(self._home))
            return Patience(f"Tooltray cannot be reached at {path}: {self._obstacle.strerror}")
        if not self._options.may_start:
            return Patience("Tooltray is not running, and --no-start keeps this bridge from starting it. Start Tooltray and call again")
        home, user_home = os.fsdecode(self._home), os.fsdecode(self._user_home)
        reason = why_not(home, user_home)
        return Patience(reason) if reason else HubStart(home, user_home, is_restart=self._had_hub)

    def _refuse(self, reason: str) -> None:
        self.exit_code = 1
        self._refusal = json.dumps({"code": INTERNAL_ERROR, "message": reason}, separators=(",", ":")).encode()
        self._refusal_until = monotonic() + REFUSE_FOR_S
        self._relay.tell_client(self._relay.tracker.refuse(self._refusal))

    def _end_attempt(self) -> None:
        if self._attempt:
            self._attempt.close()
        self._attempt = None
