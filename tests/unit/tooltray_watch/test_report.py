"""The report of what a watched program did."""

import os
from pathlib import Path

import pytest
from tests.unit.tooltray_watch.own_memory import facts

from tooltray_watch import report
from tooltray_watch.report import Report


def test_each_thing_is_told_once_and_only_its_owner_may_read_it(report_file: Path) -> None:
    told = Report(str(report_file))
    for _ in range(2):
        told.tell("read", "/a\nb")
        told.tell("name", "example.org", ("192.0.2.1",))
    told.close()
    assert facts(report_file) == [("read", "/a\nb"), ("name", "example.org", "192.0.2.1")]
    assert report_file.stat().st_mode & 0o777 == 0o600


def test_more_than_there_is_room_for_is_said_once_and_files_do_not_hide_the_network(
    report_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "MOST_FILES", 2)
    monkeypatch.setattr(report, "MOST_OTHERS", 1)
    told = Report(str(report_file))
    for i in range(5):
        told.tell("read", f"/{i}")
        told.tell("connect", f"192.0.2.{i}:443")
    assert facts(report_file) == [("read", "/0"), ("connect", "192.0.2.0:443"), ("read", "/1"), ("full", "")]
    assert not told.has_room_for_files
    told.close()


def test_a_report_of_many_long_names_ends(report_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_BYTES", 100)
    told = Report(str(report_file))
    for i in range(5):
        told.tell("read", f"/{i}" * 40)
    assert [kind for kind, *_ in facts(report_file)] == ["read", "full"]
    told.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_a_full_disk_does_not_stop_the_program() -> None:
    told = Report("/dev/full")
    told.tell("read", "/a")
    assert not told.has_room_for_files
    told.close()
