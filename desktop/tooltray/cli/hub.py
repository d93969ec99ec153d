"""How a command gets a hub: the running one, the settings in its place, or one that is started for it.

Above it: the commands. Below it: control_client; settings_hub and the bridge's way of starting a hub, each imported only where needed.
"""

import os
import time

from tooltray.cli.confirm import asker, is_at_terminal
from tooltray.control.control_client import ControlClient, Hub
from tooltray.errors import TooltrayError
from tooltray.home.home import Home
from tooltray.home.hub_lock import HubLock

LOCKED_TIMEOUT_S = 20.0  # a hub that starts listens within 3 s; one that ends has stopped its servers by then
RETRY_EVERY_S = 0.05  # while a hub starts or ends; neither its lock nor its socket can be waited for


def hub_or_settings(home: Home) -> Hub:
    """The running hub, or, where none runs, the settings, under the hub's lock until `close`: no hub starts meanwhile.

    Raises:
        TooltrayError: the home cannot be used, or something holds the lock and does not listen.
    """
    home.prepare()
    lock = HubLock(home.lock)
    deadline = time.monotonic() + LOCKED_TIMEOUT_S
    while True:
        client = _connect(home)
        if client is not None:
            return client
        if _is_taken(lock, home):
            from tooltray.cli.settings_hub import SettingsHub

            return SettingsHub(home, release=lock.release, asker=asker())
        if time.monotonic() > deadline:
            hint = "Wait for it, or end it by its pid, which is in hub.json beside the lock"
            raise TooltrayError("A hub is starting or ending and does not answer", f"{home.lock} is locked", hint)
        time.sleep(RETRY_EVERY_S)


def started_hub(home: Home) -> ControlClient:
    """The running hub; where none runs, one is started in the way of the bridge, and leaves again when nobody uses it for a while.

    A bridge asks first whether it may do that in this home; here a person has named the home.

    Raises:
        TooltrayError: the home cannot be used, or no hub could be started; says why.
    """
    client = _connect(home)
    if client is not None:
        return client
    home.prepare()
    _remember_environment(home)
    from tooltray.downstream.bridge_entry import default_home
    from tooltray_bridge.start import HubStart

    start = HubStart(os.fspath(home.root), os.fspath((default_home() or home).root))
    try:
        while True:
            reason = start.step()
            client = _connect(home)
            if client is not None:
                return client
            if reason:
                raise TooltrayError("No hub is running, and none could be started", reason)
            time.sleep(RETRY_EVERY_S)
    finally:
        start.close()


def _remember_environment(home: Home) -> None:
    """The hub that is started gets nothing of this process; what a person's terminal has of certificates and proxies it finds there."""
    from tooltray.launch.remembered_variables import RememberedVariables, is_started_in_terminal

    if is_started_in_terminal():
        remembered = RememberedVariables(home.environment)
        remembered.load()
        remembered.remember(os.environ, is_all=True)


def _connect(home: Home) -> ControlClient | None:
    return ControlClient.connect(home, is_at_terminal=is_at_terminal())


def _is_taken(lock: HubLock, home: Home) -> bool:
    try:
        return lock.try_take()
    except OSError as error:
        raise TooltrayError("Tooltray's lock cannot be taken", f"{home.lock}: {error.strerror}", "Make the folder writable") from error


def folder_path(text: str) -> str:
    """A folder as the hub may read it, which runs elsewhere; what can be no path at all it refuses itself."""
    return os.path.abspath(text) if text and "\0" not in text else text
