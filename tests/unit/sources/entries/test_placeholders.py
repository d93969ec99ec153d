"""placeholders.py: values in the place of placeholders, each once."""

from tooltray.sources.entries.placeholders import filled_in


def test_placeholders_are_filled_in_at_every_depth_and_all_else_stays() -> None:
    part = {"args": ["a-${x}", ("${x}${y}",)], "n": 1, "none": None, "${x}": True}
    assert filled_in(part, {"${x}": "1", "${y}": "2"}) == {"args": ["a-1", ["12"]], "n": 1, "none": None, "${x}": True}
    assert filled_in(part, {}) is part


def test_a_value_that_looks_like_a_placeholder_stays_as_it_is() -> None:
    values = {f"${{{number}}}": f"${{{number + 1}}}" * 2 for number in range(60)}
    assert filled_in("${0}", values) == "${1}${1}"
