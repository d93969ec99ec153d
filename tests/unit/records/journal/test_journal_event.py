"""journal_event.py"""

from tests.fakes.journals import NOW

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported, ServerFailed
from tooltray.records.journal.journal_event import Failures, JournalEvent

ENDED, OTHER = Problem("'files' ended", "exit code 3"), Problem("'files' needs a token")


def told(*events: ServerFailed | ProblemReported) -> list[tuple[str, str, str]]:
    bus, found = EventBus(), list[JournalEvent]()
    bus.subscribe(JournalEvent, found.append)
    Failures(bus=bus, clock=lambda: NOW).start()
    for event in events:
        bus.publish(event)
    assert {(each.kind, each.at, each.outcome) for each in found} <= {("failure", NOW, "error")}
    return [(each.server, each.project, each.reason) for each in found]


def test_a_failure_of_a_server_and_the_problem_that_it_is_are_one() -> None:
    failed, problem = ServerFailed("files", ENDED, False, 1, 3, "/p"), ProblemReported(ENDED, "files", "/p")
    assert told(failed, problem) == [("files", "/p", "'files' ended: exit code 3")]
    assert len(told(failed, problem, problem)) == 2


def test_another_problem_and_one_of_no_server_are_told() -> None:
    assert told(ServerFailed("files", ENDED, True, 1), ProblemReported(OTHER, "files"), ProblemReported(ENDED)) == [
        ("files", "", "'files' ended: exit code 3"),
        ("files", "", "'files' needs a token"),
        ("", "", "'files' ended: exit code 3"),
    ]
