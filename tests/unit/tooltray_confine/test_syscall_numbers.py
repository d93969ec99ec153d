import re
from pathlib import Path

import pytest

from tooltray_confine.syscall_numbers import NEWEST_KNOWN, NUMBERS

HEADERS = {0: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 1: "/usr/include/asm-generic/unistd.h"}
DEFINITION = re.compile(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b")


@pytest.mark.parametrize("column", HEADERS)
def test_numbers_are_those_of_the_headers(column: int):
    header = Path(HEADERS[column])
    if not header.is_file():
        pytest.skip("no headers of Linux here")
    known = {name: int(number) for name, number in DEFINITION.findall(header.read_text())}
    ours = {name: numbers[column] for name, numbers in NUMBERS.items() if numbers[column] >= 0}
    assert {name: number for name, number in ours.items() if name in known} == {name: known[name] for name in ours if name in known}
    assert len(known.keys() & ours.keys()) > 80


def test_no_number_stands_for_two_calls():
    for column in HEADERS:
        numbers = [each[column] for each in NUMBERS.values() if each[column] >= 0]
        assert len(set(numbers)) == len(numbers)
        assert max(numbers) <= NEWEST_KNOWN
