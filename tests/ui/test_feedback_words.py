"""Reports, times and paths in words."""

from datetime import datetime
from pathlib import Path

import pytest

from tooltray.foundation.snapshots.questions import FeedbackSnapshot
from tooltray.ui.feedback.feedback_words import (
    duration_words,
    place_words,
    project_words,
    ready_answer_words,
    short_path,
    window_title,
)

NOW = datetime(2026, 11, 22, 14, 30).timestamp()


def request(path: str = "", name: str = "", client: str = "cursor") -> FeedbackSnapshot:
    return FeedbackSnapshot("1", client, path, name, "", NOW - 42, NOW)


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0:00"), (-5, "0:00"), (42.9, "0:42"), (725, "12:05"), (3723, "1:02:03")])
def test_waiting_is_said_as_a_clock_has_it(seconds: float, shown: str) -> None:
    assert duration_words(seconds) == shown


def test_a_path_in_the_person_s_own_folder_is_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert short_path(f"{tmp_path}/code/shop") == "~/code/shop"
    assert short_path(f"{tmp_path}-2/code") == f"{tmp_path}-2/code"
    monkeypatch.setenv("HOME", "/")
    assert short_path("/srv/code") == "/srv/code"


def test_a_project_is_called_by_its_name_its_folder_or_not_at_all() -> None:
    assert project_words(request("/srv/shop", "Shop")) == "Shop"
    assert project_words(request("/srv/shop")) == "shop"
    assert project_words(request()) == "No project"
    assert place_words(request("/srv/shop"), NOW) == "Project shop · /srv/shop · waiting for 0:42"
    assert place_words(request(name="Shop"), NOW) == "Project Shop · waiting for 0:42"
    assert place_words(request(), NOW) == "No project · waiting for 0:42"


def test_a_window_is_named_for_the_best_that_is_known() -> None:
    titles = [window_title(each) for each in (request("/srv/shop", "Shop"), request("/srv/shop"), request(), request(client=""))]
    assert titles == ["Feedback for Shop", "Feedback for /srv/shop", "Feedback for cursor", "Feedback"]


def test_ready_answers_of_tooltray_are_known_and_those_of_a_person_stay_as_they_are() -> None:
    for answer in ("Continue", "Looks good, commit it", "Show me the diff", "Stop here", "Run it on {all} machines"):
        assert ready_answer_words(answer) == answer
