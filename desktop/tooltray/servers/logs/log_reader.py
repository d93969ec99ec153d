"""Reads pages of a log: older or newer lines, filtered, from a place or a time on. One page searches TURN_BYTES at most, so that a search
through gigabytes consists of many short requests and can be ended between any two of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tooltray.foundation.errors import NotFound, Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import HUB, LEVELS, SERVER, LogFilter, LogLine, LogPage
from tooltray.foundation.tasks import finish_in_thread
from tooltray.records.log.log_files import log_files
from tooltray.servers.logs.log_files import (
    Found,
    Passed,
    Place,
    Segment,
    ServerLogFiles,
    Skips,
    end_of_lines,
    find_time,
    lines_before,
    lines_from,
    read_place,
    size_of,
)
from tooltray.servers.logs.log_lines import HUB_FORMAT, SERVER_FORMAT, WORDS, LineFormat

TURN_BYTES = 16 * 2**20  # of one page; some hundredths of a second
MAX_PAGE_BYTES = 4 * 2**20  # of the lines of a page, since a page may be sent to another process
MOST_LINES = 1000  # of one page


class LogReader:
    """Reads one log; created for one request."""

    def __init__(self, segments: Sequence[Segment], format: LineFormat, wanted: LogFilter, *, turn_bytes: int = TURN_BYTES) -> None:
        """
        Args:
            segments: the files, oldest first.
            wanted: which lines.
        """
        self._segments, self._format, self._wanted, self._turn_bytes = segments, format, wanted, turn_bytes
        self._skips = make_skips(wanted, format)
        self._needle = wanted.text.casefold()
        self._lines: list[LogLine] = []
        self._searched = self._kept_bytes = 0
        self._reached_at = 0.0

    def older(self, before: Place | None, limit: int) -> LogPage:
        """Returns the newest lines before a place; None: before the end of the log, or of the wanted time.

        Raises:
            OSError: a file cannot be read.
        """
        end = before or self._end()
        if end is None:
            return self._page("", "", is_partial=False)
        stopped: Place | None = None
        for segment in [each for each in reversed(self._segments) if each.key <= end.key]:
            offset = end.offset if segment.key == end.key else size_of(segment.path)
            stopped = self._older_in(segment, offset, limit)
            if stopped:
                break
        self._lines.reverse()
        goes_on = stopped is not None and not self._is_too_old and stopped > self._start()
        return self._page(str(stopped) if goes_on else "", str(end), is_partial=goes_on and len(self._lines) < limit)

    def newer(self, after: Place, limit: int) -> LogPage:
        """Returns the oldest lines after a place.

        Raises:
            OSError: a file cannot be read.
        """
        segments = [each for each in self._segments if each.key >= after.key]
        place = reached = after if not segments or segments[0].key == after.key else Place(segments[0].key, 0)
        is_at_end = True
        for segment in segments:
            offset = place.offset if segment.key == place.key else 0
            reached, is_at_end = self._newer_in(segment, offset, limit)
            if not is_at_end:
                break
        return self._page(str(place), str(reached), is_partial=not is_at_end and len(self._lines) < limit)

    def _end(self) -> Place | None:
        """Returns where a log ends, or the wanted time."""
        until = self._wanted.until
        for segment in reversed(self._segments):
            if not until:
                return Place(segment.key, end_of_lines(segment.path))
            if offset := find_time(segment.path, until, self._format.time_of):
                return Place(segment.key, offset)
        return None

    def _start(self) -> Place:
        return Place(self._segments[0].key, 0)

    def _older_in(self, segment: Segment, end: int, limit: int) -> Place | None:
        """Takes lines until there are enough; returns the offset where it stopped, None at the file's beginning."""
        with_levels: list[Found] = []
        for each in lines_before(segment.path, end, self._skips):
            if isinstance(each, Found):
                with_levels.append(each)
                continue
            stopped = self._take_chunk(segment, with_levels, limit)
            with_levels = []
            self._searched += each.size
            if stopped is not None:
                return Place(segment.key, stopped)
            if self._searched >= self._turn_bytes:
                return Place(segment.key, each.offset)
        return None

    def _take_chunk(self, segment: Segment, found: Sequence[Found], limit: int) -> int | None:
        """Takes the wanted lines of a chunk, newest first; returns the offset of the last one taken, once that is enough."""
        for line in reversed(self._read(segment, reversed(found))):
            self._reached_at = line.at or self._reached_at
            if self._is_too_old:
                return 0
            if self._is_wanted(line):
                self._keep(line)
                if self._is_full(limit):
                    return int(line.position.rpartition(":")[2])
        return None

    def _newer_in(self, segment: Segment, start: int, limit: int) -> tuple[Place, bool]:
        """Takes lines until there are enough; returns the offset where it stopped, and whether that is the file's end."""
        reached, level = start, ""
        for each in lines_from(segment.path, start, self._skips):
            if isinstance(each, Passed):
                reached = each.offset
                self._searched += each.size
                if self._searched >= self._turn_bytes:
                    return Place(segment.key, reached), False
                continue
            line = self._format.line(str(Place(segment.key, each.start)), each, level)
            reached = each.end
            if line is None:
                continue
            level, self._reached_at = line.level, line.at or self._reached_at
            if self._wanted.until and line.at >= self._wanted.until:
                return Place(segment.key, each.start), True
            if self._is_wanted(line):
                self._keep(line)
                if self._is_full(limit):
                    return Place(segment.key, reached), False
        return Place(segment.key, reached), True

    def _read(self, segment: Segment, found: Iterator[Found]) -> list[LogLine]:
        """Returns lines in the order in which they were written, so that a line that continues another one gets that one's level."""
        lines: list[LogLine] = []
        level = ""
        for each in found:
            if line := self._format.line(str(Place(segment.key, each.start)), each, level):
                level = line.level
                lines.append(line)
        return lines

    @property
    def _is_too_old(self) -> bool:
        return 0 < self._reached_at < self._wanted.since

    def _is_full(self, limit: int) -> bool:
        return len(self._lines) >= limit or self._kept_bytes >= MAX_PAGE_BYTES

    def _is_wanted(self, line: LogLine) -> bool:
        return is_wanted(line, self._wanted, self._needle)

    def _keep(self, line: LogLine) -> None:
        self._lines.append(line)
        self._kept_bytes += len(line.text) + len(line.detail)

    def _page(self, before: str, after: str, *, is_partial: bool) -> LogPage:
        return LogPage(
            lines=tuple(self._lines),
            before=before,
            after=after,
            is_partial=is_partial,
            reached_at=self._reached_at,
            searched_bytes=self._searched,
            total_bytes=sum(size_of(each.path) for each in self._segments),
        )


def is_wanted(line: LogLine, wanted: LogFilter, needle: str) -> bool:
    """Reports whether a line matches a filter. `needle`: the filter's text, casefolded."""
    if wanted.levels and line.level not in wanted.levels:
        return False
    if (line.at and line.at < wanted.since) or (wanted.until and wanted.until <= line.at):
        return False
    return not needle or needle in line.text.casefold() or needle in line.detail.casefold()


def make_skips(wanted: LogFilter, format: LineFormat) -> Skips | None:
    """Returns a function that reports that no line of a piece can be wanted, without splitting the piece; None: that cannot be known."""
    words = [word for level in wanted.levels for word in WORDS[level]] if all(WORDS[level] for level in wanted.levels) else []
    needle = format.as_bytes(wanted.text).lower() if wanted.text.isascii() else b""
    if not words and not needle:
        return None

    def skips(piece: bytes) -> bool:
        lowered = piece.lower()
        return (bool(needle) and needle not in lowered) or (bool(words) and not any(word in lowered for word in words))

    return skips


def checked_place(text: str) -> Place:
    """Parses a place in a log.

    Raises:
        TooltrayError: the text is not a place.
    """
    if place := read_place(text):
        return place
    raise TooltrayError(Phrase("Invalid position in the log"), Phrase("{place} was not given by it", place=text[:80]))


def cannot_read(error: OSError) -> Problem:
    """Returns why a log cannot be shown."""
    return Problem(Phrase("The log cannot be read"), error.strerror or type(error).__name__)


class LogPages:
    """The logs in files.

    Attributes:
        files: of servers.
    """

    def __init__(self, files: ServerLogFiles, *, hub_logs: Path) -> None:
        """
        Args:
            hub_logs: the folder of the hub's own log.
        """
        self.files, self._hub_logs = files, hub_logs

    async def page(self, source: str, wanted: LogFilter, before: str, after: str, limit: int) -> LogPage:
        """Returns a page, as `LogsApi.get_log` does; empty if the log has no files.

        Raises:
            NotFound: the log does not exist.
            TooltrayError: the place or a level is invalid, or the log cannot be read.
        """
        check_levels(wanted)
        places = [checked_place(place) if place else None for place in (before, after)]

        def read() -> LogPage:
            segments, format = self._log(source)
            reader = LogReader(segments, format, wanted)
            return reader.newer(places[1], capped(limit)) if places[1] else reader.older(places[0], capped(limit))

        try:
            return await finish_in_thread(read)
        except OSError as error:
            problem = cannot_read(error)
            raise TooltrayError(problem.title, problem.message) from error

    def _log(self, source: str) -> tuple[list[Segment], LineFormat]:
        if source == HUB:
            return [Segment(key, path) for key, path in log_files(self._hub_logs)], HUB_FORMAT
        if source.startswith(SERVER):
            return self.files.segments(source.removeprefix(SERVER)), SERVER_FORMAT
        raise NotFound(Phrase("Log '{source}' not found", source=source[:80]), Phrase("available: hub, server:NAME and messages:NAME"))


def capped(limit: int) -> int:
    """Returns how many lines a page has at most."""
    return min(max(limit, 1), MOST_LINES)


def check_levels(wanted: LogFilter) -> None:
    """Checks the levels of a filter.

    Raises:
        TooltrayError: a level does not exist.
    """
    if unknown := [level for level in wanted.levels if level not in LEVELS]:
        title = Phrase("Level '{level}' not found", level=unknown[0][:40])
        raise TooltrayError(title, Phrase("available: {levels}", levels=", ".join(LEVELS)))
