"""The facts for a bug report, as text: versions, the desktop, each server's state and last error lines.

The text leaves out commands, addresses, values of variables, arguments and results of calls. Secrets are masked, and the user's home
folder is shortened to `~`.
"""

import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path

from tooltray import __version__
from tooltray.api.presenter.hub_snapshots import HubSnapshots
from tooltray.foundation.installs.installation import this_installation
from tooltray.foundation.snapshots.hub import EnvironmentSnapshot, HubSnapshot
from tooltray.servers.launch.variable_sources import ServerEnvironment
from tooltray.sources.doctor.diagnosis import Diagnosis
from tooltray.sources.doctor.doctor import CheckUp

_DESKTOP = ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE")


class Diagnostics:
    """The writer of diagnostics. Belongs to the engine's loop."""

    def __init__(self, *, snapshots: HubSnapshots, check_up: CheckUp, environment: ServerEnvironment, masked: Callable[[str], str]) -> None:
        """
        Args:
            masked: replaces the secrets in a text.
        """
        self._snapshots, self._check_up, self._environment, self._masked = snapshots, check_up, environment, masked

    async def text(self) -> str:
        diagnoses = await self._check_up.diagnose(None, 0.0)
        lines = [*_program(), *_hub(self._snapshots.now(), await self._environment.snapshot())]
        for diagnosis in diagnoses:
            lines += ["", *_server(diagnosis)]
        return self._masked("\n".join(lines).replace(str(Path.home()), "~")) + "\n"


def _program() -> Iterator[str]:
    yield f"Tooltray {__version__} ({this_installation().kind}), Python {platform.python_version()}"
    yield f"{platform.platform()}, {platform.machine()}"
    if desktop := [os.environ[name] for name in _DESKTOP if os.environ.get(name)]:
        yield f"desktop: {', '.join(desktop)}"


def _hub(hub: HubSnapshot, environment: EnvironmentSnapshot) -> Iterator[str]:
    yield f"AI clients: {hub.session_count}; servers: {len(hub.servers)}{'; paused' if hub.is_paused else ''}"
    if variables := [f"{each.name} ({each.origin})" for each in environment.variables]:
        yield f"variables for servers: {', '.join(variables)}"
    yield from (f"notice: {notice}" for notice in hub.notices)


def _server(diagnosis: Diagnosis) -> Iterator[str]:
    tools = diagnosis.tool_count if diagnosis.is_listed else "not known"
    yield f"server {diagnosis.server}: {diagnosis.state}, {diagnosis.transport}, tools: {tools}"
    if diagnosis.problem:
        yield f"  problem: {diagnosis.problem}"
    if diagnosis.exit_code is not None:
        yield f"  exit code: {diagnosis.exit_code}"
    if diagnosis.noise_lines:
        yield f"  lines that were no messages: {diagnosis.noise_lines}"
    if not diagnosis.is_ok:
        yield from (f"  stderr: {line}" for line in diagnosis.stderr)
