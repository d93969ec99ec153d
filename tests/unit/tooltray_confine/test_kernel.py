import errno
import os

import pytest

from tooltray_confine import kernel


def test_a_call_gets_numbers_and_memory_and_fails_with_its_error():
    reading, writing = os.pipe()
    write = 1 if os.uname().machine == "x86_64" else 64
    try:
        assert kernel.call(write, writing, b"abc", 2) == 2
        assert os.read(reading, 9) == b"ab"
        with pytest.raises(OSError) as failed:
            kernel.call(write, -1, b"abc", 2)
        assert failed.value.errno == errno.EBADF
    finally:
        os.close(reading)
        os.close(writing)


def test_memory_has_a_place_that_the_kernel_writes_to():
    memory = kernel.Memory(bytes(4))
    reading, writing = os.pipe()
    try:
        os.write(writing, b"abcd")
        kernel.call(0 if os.uname().machine == "x86_64" else 63, reading, memory.address, 4)
    finally:
        os.close(reading)
        os.close(writing)
    assert memory.data == b"abcd"
