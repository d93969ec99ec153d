"""Joins the files that servers come from, besides the settings.

Above it: the engine. Below it: ServerFiles and what it is made of.
"""

import asyncio
from collections.abc import Iterable

from tooltray.entries.clean_text import clean_text
from tooltray.files.file_history import FileHistory
from tooltray.presenter.hub_base import HubBase
from tooltray.projects.projects import Projects
from tooltray.server_files.file_readings import SECOND_LOOK_S
from tooltray.server_files.server_files import ServerFiles, Watching
from tooltray.server_files.trust_decisions import ReadFile
from tooltray.server_files.trust_store import TrustStore
from tooltray.sessions.session_state import SessionStates


async def make_files(
    *,
    base: HubBase,
    projects: Projects,
    states: SessionStates,
    watching: Watching,
    read: ReadFile,
    configs: Iterable[str],
    project: str,
    second_look_s: float = SECOND_LOOK_S,
) -> ServerFiles:
    """For arguments see ServerFiles."""
    return ServerFiles(
        config=base.config,
        store=await asyncio.to_thread(TrustStore, base.home.trust),
        projects=projects,
        states=states,
        watching=watching,
        read=read,
        environ=base.login_shell.environ,
        home=str(base.user_folder),
        bus=base.bus,
        deadlines=base.deadlines,
        spawn=base.spawn,
        configs=configs,
        project=project,
        second_look_s=second_look_s,
        history=FileHistory(base.home.history, clean_text),
    )
