"""rest/pages.py"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.rest.pages import page
from tooltray.rest.problems import Failed


def test_without_a_limit_everything_is_one_page() -> None:
    assert page(["a", "b"], {}, str) == (["a", "b"], "")
    assert page([], {"limit": "3"}, str) == ([], "")


@given(st.lists(st.text(), unique=True, max_size=12), st.integers(1, 5))
def test_the_pages_together_are_the_list(items: list[str], limit: int) -> None:
    seen, cursor = list[str](), ""
    while True:
        found, cursor = page(items, {"limit": str(limit), "cursor": cursor}, str)
        seen += found
        if not cursor:
            break
    assert seen == items


def test_what_comes_and_goes_between_two_pages_hides_and_repeats_nothing() -> None:
    _, cursor = page(["b", "d", "f", "h"], {"limit": "2"}, str)
    assert page(["a", "b", "d", "f", "h"], {"cursor": cursor}, str)[0] == ["f", "h"]
    assert page(["b", "f", "h"], {"cursor": cursor}, str)[0] == ["f", "h"]
    assert page([], {"cursor": cursor}, str) == ([], "")


@pytest.mark.parametrize("cursor", ["x", "ü", "AAAA"])
def test_a_cursor_that_was_not_given_here_is_refused(cursor: str) -> None:
    with pytest.raises(Failed):
        page(["a"], {"cursor": cursor}, str)


def test_a_cursor_that_somebody_made_up_leads_to_a_page_of_the_list() -> None:
    assert page(["a"], {"cursor": "LTEuYQ=="}, str) == (["a"], "")
