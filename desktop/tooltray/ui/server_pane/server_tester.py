"""Tests a server for a view: begins, receives its output, stops, and reports the result. Knows no widget."""

import uuid
from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.entries import ServerTest
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class ServerTester(QObject):
    """A runner of tests, one at a time; a new test ends the previous one. `ended`: also where it could not begin."""

    began = Signal()
    output = Signal(object)  # tuple[str, ...]: lines of its stderr
    ended = Signal(object)  # ServerTest

    def __init__(self, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub, self._tasks = hub, tasks
        self._test = ""  # that runs
        hub.server_test_output.connect(self._on_output)

    @property
    def is_running(self) -> bool:
        return bool(self._test)

    def test(self, name: str, entry: Mapping[str, object] | None) -> None:
        """Begins to test a server.

        Args:
            entry: with the values of its secrets; None: the saved entry.
        """
        self.cancel()
        self._test = test = uuid.uuid4().hex
        self.began.emit()
        self._tasks.spawn(self._run(test, name, entry), name=f"test of {name}")

    def cancel(self) -> None:
        """Cancels the running test, whose result is dropped."""
        test, self._test = self._test, ""
        if test:
            self._tasks.spawn(self._cancel(test), name="end a test")

    async def _run(self, test: str, name: str, entry: Mapping[str, object] | None) -> None:
        try:
            found = await self._hub.servers.test_server(test, name, entry)
        except TooltrayError as error:
            found = ServerTest(name, False, problem=error.problem)
        if self._test == test:
            self._test = ""
            self.ended.emit(found)

    async def _cancel(self, test: str) -> None:
        try:
            await self._hub.servers.cancel_server_test(test)
        except TooltrayError:
            return  # the hub is gone, and the test with it

    def _on_output(self, test: str, lines: tuple[str, ...]) -> None:
        if test == self._test:
            self.output.emit(lines)
