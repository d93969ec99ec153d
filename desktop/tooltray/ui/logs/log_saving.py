"""Writes a whole log into a file, page by page, whatever its size."""

import asyncio
from pathlib import Path

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import START, LogFilter, LogLine
from tooltray.ui.i18n import tr
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.logs.log_model import copied_text

PAGE = 1000  # lines


async def save_log(hub: QtMcpPresenter, source: str, levels: tuple[str, ...], path: str) -> int:
    """Returns how many lines were written; an existing file is replaced.

    Raises:
        TooltrayError: the log cannot be read, or the file cannot be written.
    """
    count, after, wanted = 0, START, LogFilter(levels=levels)
    file = Path(path)
    await asyncio.to_thread(_write, file, "w", "")
    while True:
        page = await hub.logs.get_log(source, wanted, "", after, PAGE)
        if page.lines:
            await asyncio.to_thread(_write, file, "a", _text(page.lines))
            count += len(page.lines)
        if page.after == after or not (page.is_partial or len(page.lines) == PAGE):
            return count
        after = page.after


def _text(lines: tuple[LogLine, ...]) -> str:
    return copied_text(lines, with_times=True) + "\n"


def _write(path: Path, mode: str, text: str) -> None:
    try:
        with path.open(mode, encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise TooltrayError(tr("The log could not be saved"), f"{path}: {error.strerror}") from error
