import pytest
from tests.fakes import bpf

from tooltray_confine.seccomp_program import (
    ALLOW,
    NUMBER,
    Line,
    answer,
    argument,
    assemble,
    has_bits,
    is_equal,
    is_higher,
    keep,
    load,
    refuse,
)


def ran(*lines: Line, number: int = 0, arguments: tuple[int, ...] = ()) -> int:
    return bpf.run(assemble(list(lines)), number, *arguments, processor=0)


def test_a_label_is_the_next_one_of_its_name():
    lines = (load(NUMBER), is_equal(1, no="next"), refuse(5), "next", is_equal(2, no="next"), refuse(6), "next", answer(ALLOW))
    assert [ran(*lines, number=number) for number in (1, 2, 3)] == [bpf.ERRNO | 5, bpf.ERRNO | 6, ALLOW]


def test_arguments_are_compared_by_their_low_half():
    lines = (argument(1), is_equal(-1, yes="yes"), answer(ALLOW), "yes", refuse(1))
    assert ran(*lines, arguments=(0, -1)) == bpf.ERRNO | 1
    assert ran(*lines, arguments=(0, 0x1234_FFFF_FFFF)) == bpf.ERRNO | 1
    assert ran(*lines, arguments=(-1, 1)) == ALLOW


def test_bits_and_orders():
    lines = (argument(0), keep(0xF0), has_bits(0x30, yes="yes"), is_higher(0x40, yes="yes"), answer(ALLOW), "yes", refuse(1))
    assert [ran(*lines, arguments=(value,)) for value in (0x1F, 0x4F, 0x50, 0x0F)] == [bpf.ERRNO | 1, ALLOW, bpf.ERRNO | 1, ALLOW]


def test_a_jump_goes_forward_and_not_too_far():
    with pytest.raises(KeyError):
        assemble(["back", is_equal(1, yes="back"), answer(ALLOW)])
    with pytest.raises(OverflowError):
        assemble([is_equal(1, yes="far"), *[answer(ALLOW)] * 256, "far", answer(ALLOW)])
