"""feedback_tool.py: a model's arguments are read with patience, and it hears what was changed."""

import os
from typing import Any

import pytest
from tests.portable import absolute

from tooltray.gateway.feedback.feedback_tool import LONGEST_SUMMARY, BadArguments, read_arguments

SHOP = absolute("code", "shop")


def test_what_a_model_wrote_is_taken() -> None:
    read = read_arguments({"work_summary": "# Done\n\n- a", "project_name": "shop", "project_path": SHOP, "timeout_s": 900})
    assert (read.summary, read.project_name, read.project_path, read.wait_s, read.remarks) == ("# Done\n\n- a", "shop", SHOP, 900, ())
    assert read.shown_path == SHOP


@pytest.mark.parametrize("arguments", [None, [], "x", {}, {"work_summary": None}, {"work_summary": " \n\x00 "}, {"work_summary": ["a"]}])
def test_without_a_summary_there_is_nothing_to_show(arguments: Any) -> None:
    with pytest.raises(BadArguments, match="work_summary is missing"):
        read_arguments(arguments)


def test_a_huge_summary_is_cut_with_a_remark() -> None:
    read = read_arguments({"work_summary": "x" * (LONGEST_SUMMARY + 1)})
    assert len(read.summary) == LONGEST_SUMMARY
    assert "cut after 20,000 characters" in read.remarks[0]


@pytest.mark.parametrize(
    ("given", "wait_s", "remark"),
    [
        (None, 86400, ""),
        (1, 600, "raised to 600"),
        (-5, 600, "raised to 600"),
        ("30", 600, "raised to 600"),
        (600, 600, ""),
        (1e9, 86400, ""),
        (float("inf"), 86400, ""),
        (float("nan"), 86400, "must be a number"),
        ("soon", 86400, "must be a number"),
        (True, 86400, "must be a number"),
        ([1], 86400, "must be a number"),
        (10**400, 86400, "must be a number"),
    ],
)
def test_time_outs_that_are_too_short_are_raised(given: Any, wait_s: float, remark: str) -> None:
    read = read_arguments({"work_summary": "x", "timeout_s": given})
    assert read.wait_s == wait_s
    assert remark in "".join(read.remarks)
    assert bool(read.remarks) == bool(remark)


@pytest.mark.parametrize("path", ["relative", "/a\nb", "/a\x1b[1m", "/" + "a" * 10_000, "~", "file:///x", ""])
def test_what_is_no_folder_is_not_shown_and_is_passed_on_as_it_is(path: str) -> None:
    read = read_arguments({"work_summary": "x", "project_path": path})
    assert (read.shown_path, read.project_path) == ("", path)


def test_what_is_no_text_is_ignored_with_a_remark() -> None:
    read = read_arguments({"work_summary": "x", "project_path": 5, "project_name": ["a"]})
    assert (read.project_name, read.project_path) == ("", "")
    assert [remark.split()[0] for remark in read.remarks] == ["project_name", "project_path"]


def test_what_a_person_cannot_see_is_not_shown() -> None:
    read = read_arguments({"work_summary": "a\u202eb\x1b[2Jc\r\nd", "project_name": "s\u200bh\nop", "project_path": f"{SHOP}/../b/"})
    assert (read.summary, read.project_name, read.shown_path) == ("ab[2Jc\nd", "sh op", os.path.join(os.path.dirname(SHOP), "b"))
