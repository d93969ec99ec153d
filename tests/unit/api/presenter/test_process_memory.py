"""process_memory.py"""

import asyncio
import os
import sys

import pytest

from tooltray.api.presenter.process_memory import Process, memory_in, memory_of, own_memory, read_ps

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc")


@LINUX
async def test_what_a_process_has_started_counts_for_it() -> None:
    alone = memory_of([os.getpid()])
    program = ("-c", "print(flush=True); input()")
    started = await asyncio.create_subprocess_exec(sys.executable, *program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    try:
        assert started.stdout
        await started.stdout.readline()  # it grows no more
        both = memory_of([os.getpid()])
        assert both > alone
        assert memory_of([started.pid, os.getpid()]) <= both + memory_of([started.pid]) // 2  # nothing counts twice
    finally:
        await started.communicate(b"\n")


@LINUX
def test_a_process_that_has_ended_has_nothing() -> None:
    assert memory_of([2**22 + 1]) == 0
    assert own_memory() > 1_000_000


def test_a_table_of_all_processes_is_followed_downwards() -> None:
    there = {1: Process(0, 1), 5: Process(1, 10), 6: Process(5, 100), 7: Process(6, 1000), 8: Process(1, 10_000)}
    assert memory_in(there, [5]) == 1110
    assert memory_in(there, [9]) == 0


def test_lines_of_ps_are_read_and_others_left_out() -> None:
    assert read_ps("    1     0  9000\n  77     1    12\nps: odd line here too\n") == {1: Process(0, 9_216_000), 77: Process(1, 12_288)}
