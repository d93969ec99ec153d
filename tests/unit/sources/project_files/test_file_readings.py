"""file_readings.py"""

import threading
from collections.abc import AsyncIterator

import pytest
from tests.fakes.heard import Record

from tooltray.config.settings.file_server import FileReading
from tooltray.foundation.tasks import TaskKeeper
from tooltray.sources.project_files.file_readings import FileReadings

WHOLE = FileReading("/f", "mcp.json", "d1")
HALF = FileReading("/f", "mcp.json", "d2", is_understood=False)
GONE = FileReading("/f", "mcp.json")
LONGER_THAN_A_TEST_S = 3600.0


class File:
    path = "/f"

    def __init__(self) -> None:
        self.latest: FileReading | None = None


class Reader:
    """
    Attributes:
        says: what the file says, one reading after the other; the last one for ever.
        heard: file, reading and whether it is sure.
        may_read: a reading waits for it.
    """

    def __init__(self) -> None:
        self.keeper = TaskKeeper()
        self.says: list[FileReading] = []
        self.heard = Record[tuple[File, FileReading, bool]]()
        self.may_read = threading.Event()
        self.may_read.set()
        self.readings = FileReadings[File](read=self._read, spawn=self.keeper.spawn, second_look_s=0.0)
        self.readings.on_read = self._on_read

    def _read(self, file: File) -> FileReading:
        self.may_read.wait(10)
        return self.says.pop(0) if len(self.says) > 1 else self.says[0]

    def _on_read(self, file: File, reading: FileReading, is_sure: bool) -> None:
        file.latest = reading
        self.heard.add((file, reading, is_sure))

    async def all(self, count: int) -> list[tuple[FileReading, bool]]:
        await self.heard.wait(count=count)
        return [(reading, is_sure) for _, reading, is_sure in self.heard.all]


@pytest.fixture
async def reader() -> AsyncIterator[Reader]:
    reader = Reader()
    yield reader
    reader.may_read.set()
    await reader.keeper.close()


@pytest.mark.parametrize(
    ("before", "says", "told"),
    [
        (None, [WHOLE], [(WHOLE, True)]),
        (None, [GONE], [(GONE, True)]),
        (None, [HALF, WHOLE], [(HALF, False), (WHOLE, True)]),
        (WHOLE, [HALF, WHOLE], [(WHOLE, True)]),
        (WHOLE, [HALF], [(HALF, True)]),
        (WHOLE, [GONE, WHOLE], [(WHOLE, True)]),
        (WHOLE, [GONE], [(GONE, True)]),
    ],
)
async def test_half_a_file_and_one_that_is_gone_get_a_second_look(
    reader: Reader, before: FileReading | None, says: list[FileReading], told: list[tuple[FileReading, bool]]
) -> None:
    file = File()
    file.latest, reader.says = before, list(says)
    reader.readings.begin(file)
    assert await reader.all(len(told)) == told


async def test_what_changes_while_it_is_read_is_read_again_as_the_file_that_it_is_then(reader: Reader) -> None:
    reader.says = [WHOLE]
    reader.may_read.clear()
    first, second = File(), File()
    for file in (first, first, second):
        reader.readings.begin(file)
    reader.may_read.set()
    assert len(await reader.all(2)) == 2
    assert [file for file, _, _ in reader.heard.all] == [first, second]


async def test_whoever_waits_for_a_first_reading_waits_until_it_is_there_and_not_for_ever(reader: Reader) -> None:
    reader.says = [HALF, WHOLE]
    reader.may_read.clear()
    reader.readings.begin(File())
    await reader.readings.first("/f", within_s=0.0)
    assert reader.heard.all == []
    waiting = reader.keeper.spawn(reader.readings.first("/f", within_s=LONGER_THAN_A_TEST_S), name="waiting")
    reader.may_read.set()
    await waiting
    assert reader.heard.all[0][1] is HALF
    await reader.readings.first("/f", within_s=LONGER_THAN_A_TEST_S)
