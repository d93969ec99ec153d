"""What the tests of the log share: reading its files, a clock that is set by hand, another stderr."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NOON = 1_800_014_400.0  # 2027-01-15, 12:00 UTC
DAY_S = 86_400.0
WAIT_S = 20.0  # far more than any of this takes


class Clock:
    """Unix seconds, as set."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def records_in(folder: Path) -> list[dict[str, Any]]:
    """All lines of all files, oldest file first. Fails on a line that is no JSON."""
    return [json.loads(line) for path in sorted(folder.iterdir()) for line in path.read_bytes().splitlines()]


@contextmanager
def stderr_led_to(descriptor: int) -> Iterator[None]:
    """File descriptor 2 is another file for a while; -1 closes it."""
    kept = os.dup(2)
    try:
        if descriptor < 0:
            os.close(2)
        else:
            os.dup2(descriptor, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """Both ends of a pipe; ends that are still open are closed at the end."""
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            try:
                os.close(end)
            except OSError:
                pass
