"""long_lived.py"""

import gc

import pytest

from tooltray.foundation.long_lived import MANY, keep_for_long


@pytest.mark.parametrize(("count", "is_left_out"), [(MANY - 1, False), (MANY, True)])
def test_what_a_long_list_holds_is_left_out_of_full_passes(count: int, is_left_out: bool) -> None:
    before = gc.get_freeze_count()
    made = [[] for _ in range(count)]
    try:
        keep_for_long(len(made))
        assert (gc.get_freeze_count() >= before + count) is is_left_out
    finally:
        gc.unfreeze()
