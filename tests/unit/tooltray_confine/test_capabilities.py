import errno
import os
import posix
from pathlib import Path

import pytest
from tests.fakes.forked import in_child

from tooltray_confine import capabilities

PR_CAPBSET_DROP, HIGHEST = 24, 40


def test_root_keeps_one_right_and_others_none():
    def look() -> None:
        capabilities.give_up()
        status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
        for kind in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
            assert int(status[kind], 16) & ~(1 << capabilities.DAC_OVERRIDE) == 0
        assert os.geteuid() or int(status["CapBnd"], 16) & ~(1 << capabilities.DAC_OVERRIDE) == 0

    assert in_child(look).code == 0


def test_root_gives_up_all_that_a_program_could_get_but_one(monkeypatch: pytest.MonkeyPatch):
    dropped: list[object] = []

    def call(number: int, *arguments: object) -> int:
        if arguments[0] == PR_CAPBSET_DROP:
            dropped.append(arguments[1])
            if arguments[1] == HIGHEST + 1:
                raise OSError(errno.EINVAL, "")
        return 0

    monkeypatch.setattr(capabilities, "call", call)
    monkeypatch.setattr(posix, "geteuid", lambda: 0)
    capabilities.give_up()
    assert dropped == [number for number in range(HIGHEST + 2) if number != capabilities.DAC_OVERRIDE]
    dropped.clear()
    monkeypatch.setattr(capabilities, "HIGHEST", HIGHEST)  # as if the kernel knew no end of them
    capabilities.give_up()
    assert len(dropped) == HIGHEST


def test_what_the_kernel_does_not_let_go_is_an_error(monkeypatch: pytest.MonkeyPatch):
    def call(number: int, *arguments: object) -> int:
        raise OSError(errno.EIO, "")

    monkeypatch.setattr(capabilities, "call", call)
    with pytest.raises(OSError):
        capabilities.give_up()
