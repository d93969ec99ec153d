"""transports/server_log.py: one server's log over several processes."""

from tooltray.transports.server_log import LOG_LINES, SEPARATOR, begin_attempt, last_attempt, new_log


def test_a_log_is_bounded() -> None:
    log = new_log()
    log.extend(map(str, range(LOG_LINES + 5)))
    assert (len(log), log[0]) == (LOG_LINES, "5")


def test_attempts_are_separated_and_the_last_ones_words_are_told_apart() -> None:
    log = new_log()
    begin_attempt(log)
    assert list(log) == []
    log.append("first")
    begin_attempt(log, 0.0)
    log.append("second")
    assert [line.startswith(SEPARATOR) for line in log] == [False, True, False]
    assert last_attempt(log) == ["second"]


def test_an_attempt_that_wrote_nothing_leaves_the_words_of_the_one_before() -> None:
    log = new_log()
    log.append("first")
    begin_attempt(log)
    begin_attempt(log)
    assert len(log) == 2
    assert last_attempt(log) == ["first"]
    assert last_attempt([]) == []
