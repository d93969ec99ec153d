"""A person's folder with AI clients in it, and what connects them, without a hub."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.fakes.system_keyring import FakeKeyring

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretBackend
from tooltray.foundation.home.home import Home
from tooltray.foundation.tasks import TaskKeeper
from tooltray.sources.clients.agent_skill import skill_text
from tooltray.sources.clients.bridge_entries import OwnEntry
from tooltray.sources.clients.client_edits import ClientEdits
from tooltray.sources.clients.client_kinds import ClientPlaces
from tooltray.sources.clients.client_look import ClientLook

NO_PROCESSES = "/nonexistent"


class ClientHome:
    """
    Attributes:
        root: HOME.
        skill: the text of our own skill.
        bridge: the program of our entry, which is there.
        running: names of programs that run.
    """

    def __init__(self, root: Path, *, backend: SecretBackend = "keyring") -> None:
        self.root, self.bridge = root, root / ".tooltray" / "bin" / "tooltray-bridge"
        self.bridge.parent.mkdir(parents=True)
        self.bridge.write_text("#!/bin/sh\n")
        self.bridge.chmod(0o755)
        self.home = Home(root / ".tooltray")
        self.keyring, self.tasks, self.backend = FakeKeyring(), TaskKeeper(), backend
        self.secrets = SecretStore(self.home, backend, open_keyring=lambda: self.keyring)
        self.projects: tuple[str, ...] = ()
        self.path = ""
        self.skill = skill_text({}, ["tooltray"])
        self.slept: list[float] = []
        self._is_asleep = asyncio.Event()
        self.proc = root / "proc"
        self.proc.mkdir()

    def write(self, path: str, content: str | bytes) -> Path:
        """Writes a file below HOME."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def runs(self, name: str, pid: int = 4242) -> None:
        """Lets a program of this name run."""
        (self.proc / str(pid)).mkdir(exist_ok=True)
        (self.proc / str(pid) / "cmdline").write_bytes(os.fsencode(name) + b"\0")

    @property
    def own(self) -> OwnEntry:
        return OwnEntry((str(self.bridge),), "http://127.0.0.1:7717")

    @property
    def environ(self) -> Mapping[str, str]:
        return {"HOME": str(self.root), "PATH": self.path}

    async def look(self, projects: Iterable[str] = ()) -> ClientLook:
        return self.look_now()

    def look_now(self) -> ClientLook:
        return ClientLook(ClientPlaces(self.environ, "linux", str(self.proc)), own=self.own, projects=self.projects)

    def skill_text(self, look: ClientLook) -> str:
        return self.skill

    def edits(self, *, mask: Callable[[str], str] = str) -> ClientEdits:
        return ClientEdits(
            client_scans=self,  # type: ignore[arg-type]  # the method that is asked for
            secrets=self.secrets,
            home=self.home,
            mask=mask,
            spawn=self._spawn,
            sleep=self._never,
        )

    def _spawn(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        return self.tasks.spawn(work, name=name)

    async def slept_once(self) -> None:
        """Waits until something in the background sleeps for a day."""
        await self._is_asleep.wait()

    async def _never(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._is_asleep.set()
        await asyncio.Event().wait()

    async def close(self) -> None:
        await self.tasks.close()
        await self.secrets.close()
