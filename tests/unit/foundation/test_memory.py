"""memory.py"""

import gc
import subprocess
import sys

import pytest

from tooltray.foundation.memory import MANY, keep_for_long

PROGRAM = """
import resource, sys
from tooltray.foundation.memory import return_large_blocks

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

return_large_blocks()
before, small = resident(), []
for _ in range(4):
    blocks = []
    for _ in range(20):
        blocks.append(b"x" * 8_000_000)
        small.append(bytearray(2000))  # would keep the heap below it
    del blocks
print((resident() - before) // 1_000_000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")
def test_large_blocks_go_back_to_the_system() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 20


@pytest.mark.parametrize(("count", "is_left_out"), [(MANY - 1, False), (MANY, True)])
def test_what_a_long_list_holds_is_left_out_of_full_passes(count: int, is_left_out: bool) -> None:
    before = gc.get_freeze_count()
    made = [[] for _ in range(count)]
    try:
        keep_for_long(len(made))
        assert (gc.get_freeze_count() >= before + count) is is_left_out
    finally:
        gc.unfreeze()
