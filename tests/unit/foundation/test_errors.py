"""What went wrong, as a person reads it."""

from tooltray.foundation.errors import Problem, TooltrayError, in_one_line


def test_a_problem_reads_as_sentences() -> None:
    assert str(Problem("it did not start", "exit code 1.", "See its log.")) == "it did not start: exit code 1. See its log"


def test_sentences_follow_a_full_stop_and_reasons_a_colon() -> None:
    assert (
        in_one_line("It failed.", "The disk is full", "/tmp/x", "tooltray doctor", "")
        == "It failed. The disk is full. /tmp/x: tooltray doctor"
    )
    assert in_one_line() == ""


def test_parts_that_are_empty_are_left_out() -> None:
    assert str(Problem("it did not start")) == "it did not start"
    assert str(Problem("it did not start", hint="See its log.")) == "it did not start. See its log"


def test_an_error_carries_its_problem_and_reads_like_it() -> None:
    error = TooltrayError("a", "b", "c")
    assert error.problem == Problem("a", "b", "c")
    assert str(error) == "a: b: c"
