"""`tooltray feedback ...`, with a running hub and without."""

import base64
import os
import time
from pathlib import Path
from typing import Any

from tests.fakes.fake_control_hub import FakeControlHub, whole
from tests.fakes.pictures import png
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.questions import FeedbackEntry
from tooltray.gateway.feedback.feedback_attachments import MOST_FILE_BYTES, MOST_PICTURE_BYTES
from tooltray.gateway.feedback.feedback_history import FeedbackHistory

WAITING = {
    "id": "ab12",
    "client": "Claude\x1b[1m",
    "project_path": "/code/shop",
    "project_name": "shop",
    "summary": "# Done\x1b[2J " + "x" * 100 + "\n\nmore",
    "asked_at": 0.0,
    "ends_at": 1.0,
}
ENDED = {**WAITING, "id": "cd34", "project_name": "", "outcome": "answered", "text": "Yes\x1b[1m", "attachments": ["a.png"]}


def answers(**more: Any) -> dict[str, Any]:
    verbs = {"get_feedback_requests": [WAITING], "get_feedback_history": [ENDED], "answer_feedback": None, "dismiss_feedback": None}
    return verbs | more


def test_what_waits_is_listed_on_one_line_each_with_the_way_to_answer(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, answers()):
        lines = tooltray("feedback", "list").out.splitlines()
        assert lines[1].split()[0] == "ab12"
        assert "# Done xxx" in lines[1]
        assert "more" not in lines[1]
        assert "tooltray feedback answer ab12" in lines[2]
        assert tooltray("feedback", "list", "--json").json == whole("get_feedback_requests", [WAITING])
    with FakeControlHub(hub_home, answers(get_feedback_requests=[])):
        assert tooltray("feedback", "list").out == "No report waits for an answer.\n"


def test_one_report_is_shown_whole_and_clean(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, answers()):
        waiting, ended = tooltray("feedback", "show", "ab12").out, tooltray("feedback", "show", "cd34").out
        assert tooltray("feedback", "show", "cd34", "--json").json["text"] == "Yes\x1b[1m"
        assert "Report 'x' not found" in tooltray("feedback", "show", "x").err
    assert "\n\nmore" in waiting
    assert "shop" in waiting
    assert "[answered] Yes\n[attached: a.png]\n" in ended
    assert "\x1b" not in waiting + ended


def test_an_answer_takes_text_pictures_and_files_along(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    picture, notes, large = tmp_path / "a", tmp_path / "n.txt", tmp_path / "large.log"
    picture.write_bytes(png())
    notes.write_bytes(b"notes")
    large.write_bytes(b"x" * (MOST_FILE_BYTES + 1))
    with FakeControlHub(hub_home, answers()) as hub:
        words = ("--image", str(picture), "--file", str(notes), "--file", str(large))
        assert tooltray("feedback", "answer", "ab12", "Looks good", *words).out == "Answered with 3 attachments.\n"
        sent = hub.params_of("answer_feedback")
        assert tooltray("feedback", "answer", "ab12", "Yes").out == "Answered.\n"
        assert tooltray("feedback", "answer", "ab12", "Yes", "--json").json == {
            "id": "ab12",
            "answered": True,
            "attachments": 0,
            "kept_until": None,
        }
    assert (sent["id"], sent["text"]) == ("ab12", "Looks good")
    assert sent["attachments"] == [
        {"name": "a", "mime_type": "image/png", "data": base64.b64encode(png()).decode(), "path": ""},
        {"name": "n.txt", "mime_type": "text/plain", "data": base64.b64encode(b"notes").decode(), "path": ""},
        {"name": "large.log", "mime_type": sent["attachments"][2]["mime_type"], "data": "", "path": str(large)},
    ]


def test_who_answers_a_client_that_has_left_hears_how_long_the_answer_is_kept(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, answers(get_feedback_requests=[{**WAITING, "is_client_there": False}])):
        assert "(does not wait now)" in tooltray("feedback", "list").out
        said = tooltray("feedback", "answer", "ab12", "Yes").out
        assert "does not wait for it now: the answer is kept for when it asks again, until " in said
        assert "\x1b" not in said
        assert tooltray("feedback", "answer", "ab12", "Yes", "--json").json["kept_until"] > time.time()


def test_what_cannot_be_sent_is_said_before_anything_is(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    large = tmp_path / "large.png"
    large.write_bytes(png(padding=MOST_PICTURE_BYTES))
    with FakeControlHub(hub_home, answers()) as hub:
        assert "more than 3.75 MiB" in tooltray("feedback", "answer", "ab12", "--image", str(large)).err
        assert "cannot be read" in tooltray("feedback", "answer", "ab12", "--file", str(tmp_path / "gone")).err
        pipe, loop, words = tmp_path / "pipe", tmp_path / "loop", tmp_path / "words.png"
        os.mkfifo(pipe)
        loop.symlink_to(loop)
        words.write_bytes(b"just words")
        for option in ("--file", "--image"):
            for path, reason in (
                (pipe, ": it is not a regular file"),
                ("/dev/zero", ": it is not a regular file"),
                (loop, "symbolic links"),
                (tmp_path, "directory"),
            ):
                assert reason in tooltray("feedback", "answer", "ab12", option, str(path)).err
        assert "it is not a PNG, JPEG, GIF or WebP" in tooltray("feedback", "answer", "ab12", "--image", str(words)).err
        assert "answer_feedback" not in hub.methods()


def test_a_report_is_put_away(tooltray: Tooltray, hub_home: Home) -> None:
    def refuse(id: str) -> None:
        raise TooltrayError("This report has ended")

    with FakeControlHub(hub_home, answers()) as hub:
        assert tooltray("feedback", "dismiss", "ab12").out.startswith("Dismissed")
        assert hub.params_of("dismiss_feedback") == {"id": "ab12"}
        assert tooltray("feedback", "dismiss", "ab12", "--json").json == {"id": "ab12", "dismissed": True}
        hub.answers["dismiss_feedback"] = refuse
        refused = tooltray("feedback", "dismiss", "ab12")
        assert (refused.code, refused.err) == (1, "tooltray: This report has ended\n")


def test_the_history_is_of_one_project_or_of_all(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    with FakeControlHub(hub_home, answers()) as hub:
        line = tooltray("feedback", "history").out.splitlines()[1]
        assert "/code/shop" in line
        assert "answered" in line
        assert hub.params_of("get_feedback_history")["project_path"] == ""
        tooltray("feedback", "history", "--project", str(tmp_path))
        assert hub.params_of("get_feedback_history")["project_path"] == str(tmp_path)
        hub.answers["get_feedback_history"] = [ENDED] * 3
        assert len(tooltray("feedback", "history", "-n", "2", "--json").json) == 2


def test_without_a_hub_nothing_waits_and_the_history_is_read_from_its_files(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    assert tooltray("feedback", "list").out == "No report waits for an answer.\n"
    assert tooltray("feedback", "history").out == "No model has reported yet.\n"
    for words in (("answer", "x", "Yes"), ("dismiss", "x")):
        refused = tooltray("feedback", *words)
        assert refused.code == 1
        assert "Tooltray is not running" in refused.err
    FeedbackHistory(hub_home.feedback).add(FeedbackEntry("e1", "", "", "c", "# Done", time.time(), "dismissed"))
    assert tooltray("feedback", "history").out.splitlines()[1].split()[0] == "e1"
    assert "[dismissed]" in tooltray("feedback", "show", "e1").out


def test_what_waited_when_the_hub_was_killed_does_not_wait_any_more(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    FeedbackHistory(hub_home.feedback).add(FeedbackEntry("e1", "", "", "c", "# Done", time.time(), "waiting"))
    assert " expired " in tooltray("feedback", "history").out
    assert "[expired]" in tooltray("feedback", "show", "e1").out
