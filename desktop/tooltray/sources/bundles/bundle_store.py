"""Bundles on the disk: their folders and records, and the removal of unneeded folders.

A bundle is in `bundles/NAME/VERSION-SUM/`, where SUM is the beginning of its SHA-256: several versions can be installed, so a running
server keeps its files until it has ended. Folders whose names begin with a full stop are incomplete, and deleted at the next start.

A folder is deleted when no entry names it and no process runs from it. A removal that can still be undone keeps the secrets and the folder
until the next start; so does an edit of the settings by hand.
"""

import asyncio
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

import msgspec

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, ServerRemoved
from tooltray.foundation.files.atomic_file import read_own, set_aside, write_atomically
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.entries import FieldValue
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.foundation.verbs import JsonMapping
from tooltray.servers.upstream.managed_server import ServerStateChanged
from tooltray.sources.bundles.archive import unpack, why_not

logger = logging.getLogger(__name__)
RECORDS = "installed.json"
MAX_RECORDS_BYTES = 16 * 2**20  # a hundred bundles have 100 KB
SUM_CHARACTERS = 12  # of a SHA-256, in a folder's name; the record has the whole
LONGEST_NAME = 50  # of a folder's name; Windows allows 260 characters in a path, and npm uses 150 of them
REMOVING = ".removing-"


class ServerChoices(msgspec.Struct, frozen=True):
    """The choices for one server of a bundle.

    Attributes:
        values: the values of settings, without secrets.
        variables: names of the variables that come from the bundle.
    """

    values: Mapping[str, str | float | bool | tuple[str, ...]] = {}
    variables: tuple[str, ...] = ()


class BundleRecord(msgspec.Struct, frozen=True):
    """A bundle that is installed.

    Attributes:
        folder: below the folder of all bundles, with slashes.
        author: as the manifest names it; not verified.
        servers: by name.
    """

    folder: str
    sha256: str
    name: str
    title: str
    version: str
    author: str
    source: str
    installed_at: float
    servers: Mapping[str, ServerChoices] = {}


class _Records(msgspec.Struct):
    bundles: list[BundleRecord]
    version: int = 1


class BundleStore:
    """The folder of all bundles, and its list. All methods block; only the holder of the home's lock may change it.

    Args:
        root: the folder of all bundles; made with the first of them.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._records = self._read()

    @property
    def records(self) -> tuple[BundleRecord, ...]:
        return self._records

    def of_server(self, server: str) -> BundleRecord | None:
        """Returns the newest bundle of a server."""
        return next((each for each in reversed(self._records) if server in each.servers), None)

    def path(self, record: BundleRecord) -> Path:
        return self.root.joinpath(*record.folder.split("/"))

    def place(self, record: BundleRecord, archive: Path, programs: Iterable[str]) -> bool:
        """Unpacks a bundle into its folder; returns False if the folder exists already.

        Raises:
            TooltrayError: see unpack.
        """
        target = self.path(record)
        if target.is_dir():
            return False
        unpack(archive, target, programs=tuple(programs))
        return True

    def save(self, record: BundleRecord) -> None:
        """Adds a record, or replaces the record of the same folder.

        Raises:
            TooltrayError: it cannot be written.
        """
        self._write([*(each for each in self._records if each.folder != record.folder), record])

    def drop_server(self, server: str, besides: str = "") -> None:
        """Drops a server from all records except the record of one folder.

        Raises:
            TooltrayError: they cannot be written.
        """
        records = [each if each.folder == besides else _without(each, server) for each in self._records]
        if records != list(self._records):
            self._write(records)

    def rename_server(self, before: str, after: str) -> None:
        """Gives the choices for a server to its new name.

        Raises:
            TooltrayError: they cannot be written.
        """
        renamed = [
            msgspec.structs.replace(each, servers={after if name == before else name: kept for name, kept in each.servers.items()})
            for each in self._records
        ]
        if renamed != list(self._records):
            self._write(renamed)

    def folders(self) -> list[Path]:
        """Returns all folders, with a record or without one."""
        return [path for name in _listed(self.root) for path in _listed(name)]

    def remove(self, folder: Path) -> None:
        """Deletes a folder and its record; files that cannot be deleted yet are left for the next start."""
        with suppress(OSError, TooltrayError):
            aside = Path(mkdtemp(dir=self.root, prefix=REMOVING))
            os.rename(folder, aside / "bundle")  # in one step, so that it is never found incomplete
            shutil.rmtree(aside, ignore_errors=True)
            self._write([each for each in self._records if self.path(each) != folder])
        with suppress(OSError):  # the bundle's other versions are in it
            folder.parent.rmdir()
        logger.info("the bundle in %s is removed", folder)

    def tidy(self) -> None:
        """Deletes the leftovers of interrupted work."""
        with suppress(OSError), os.scandir(self.root) as entries:
            for path in [entry.path for entry in entries if entry.name.startswith(".")]:
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    with suppress(OSError):
                        os.unlink(path)

    def _read(self) -> tuple[BundleRecord, ...]:
        path = self.root / RECORDS
        try:
            return tuple(msgspec.json.decode(read_own(path, MAX_RECORDS_BYTES), type=_Records).bundles)
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, msgspec.DecodeError) as error:
            logger.warning("%s cannot be read and is set aside: %s", path, error)
            set_aside(path)
            return ()

    def _write(self, records: list[BundleRecord]) -> None:
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self.root / RECORDS, msgspec.json.format(msgspec.json.encode(_Records(records))))
        except OSError as error:
            hint = hint_for(error, Phrase("Look at the folder, and try again"))
            raise TooltrayError(Phrase("The list of bundles could not be written"), f"{self.root}: {error.strerror}", hint) from error
        self._records = tuple(records)


def folder_name(name: str, version: str, sha256: str) -> str:
    """Returns the folder of a bundle, below the folder of all bundles."""
    return f"{_plain(name) or 'bundle'}/{_plain(version) or '0'}-{sha256[:SUM_CHARACTERS]}"


def plain_values(values: Mapping[str, FieldValue]) -> Mapping[str, str | float | bool | tuple[str, ...]]:
    """Returns values in their stored form: lists as tuples."""
    return {key: value if isinstance(value, str | float | int | bool) else tuple(value) for key, value in values.items()}


def _plain(text: str) -> str:
    plain = re.sub(r"[^a-z0-9._-]+", "-", text.lower())[:LONGEST_NAME].strip("-._")
    return f"bundle-{plain}" if plain and why_not(plain) else plain


def _without(record: BundleRecord, server: str) -> BundleRecord:
    kept = {name: each for name, each in record.servers.items() if name != server}
    return msgspec.structs.replace(record, servers=kept)


def _listed(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(each.path) for each in entries if not each.name.startswith(".") and each.is_dir(follow_symlinks=False)]
    except OSError:
        return []


class BundleFolders:
    """The deletion of bundles' folders that are not needed. Belongs to the engine's loop.

    Attributes:
        changing: a lock for installations: a folder exists before an entry names it.
    """

    def __init__(
        self,
        *,
        store: BundleStore,
        config: McpConfHelper,
        configs: Callable[[], Sequence[MCPServerConfig]],
        proposed: Callable[[], JsonMapping],
        bus: EventBus,
        spawn: Spawn,
    ) -> None:
        """
        Args:
            configs: the configurations of running servers.
            proposed: the entries that wait for approval.
        """
        self.store, self._config, self._spawn = store, config, spawn
        self._configs, self._proposed = configs, proposed
        self._retired: set[Path] = set()
        self.changing = asyncio.Lock()
        bus.subscribe(ServerRemoved, self._on_news)
        bus.subscribe(ServerStateChanged, self._on_news)

    async def tidy(self) -> None:
        """Deletes the leftovers of interrupted work, and all folders that are not needed; for the start of a hub. If the settings have a
        problem, an entry may be missing only for now, so no folder is deleted.
        """
        async with self.changing:
            await finish_in_thread(self.store.tidy)
            if not self._config.problems:
                await self._remove_unneeded(await finish_in_thread(self.store.folders))

    async def forget(self, server: str) -> None:
        """Deletes the bundle of a server that was removed for good, once it has ended. Never fails: the next start tries again."""
        records = [each for each in self.store.records if server in each.servers]
        if not records:
            return
        try:
            async with self.changing:
                await finish_in_thread(self.store.drop_server, server)
        except TooltrayError as error:
            logger.warning("%s", error)
        await self.retire(self.store.path(each) for each in records)

    async def rename(self, before: str, after: str) -> None:
        """Gives the choices for a bundle's server to its new name. Raises TooltrayError if they cannot be written."""
        async with self.changing:
            await finish_in_thread(self.store.rename_server, before, after)

    async def retire(self, folders: Iterable[Path]) -> None:
        """Deletes folders as soon as they are not needed."""
        self._retired.update(folders)
        await self._look_again()

    def _on_news(self, event: object) -> None:
        if self._retired:
            self._spawn(self._look_again(), name="remove bundles")

    async def _look_again(self) -> None:
        async with self.changing:
            await self._remove_unneeded(list(self._retired))

    async def _remove_unneeded(self, folders: Iterable[Path]) -> None:
        sums = {self.store.path(each): each.sha256 for each in self.store.records}
        for folder in folders:
            if not self._is_needed(folder, sums.get(folder, "")):
                self._retired.discard(folder)
                await finish_in_thread(self.store.remove, folder)

    def _is_needed(self, folder: Path, sha256: str) -> bool:
        written = self._config.document.get("mcpServers")
        files = [dict(each.entry.written) for each in self._config.file_servers.values()]
        running = [config.to_entry() for config in self._configs()]
        text = json.dumps([written, files, running, dict(self._proposed())], default=str)
        return json.dumps(str(folder))[1:-1] in text or bool(sha256 and sha256 in text)
