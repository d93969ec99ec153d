"""A report of the tracer, read as it grows."""

from pathlib import Path

import pytest

from tooltray.servers.confinement import watched
from tooltray.servers.confinement.watched import Watched, is_text, printable


def test_a_report_is_read_as_it_grows_and_a_line_that_is_cut_waits_for_its_end(tmp_path: Path) -> None:
    report = tmp_path / "r"
    seen = Watched(str(report))
    assert not seen.read()
    report.write_text('{"kind":"read","name":"/a"}\n{"kind":"read","na')
    assert seen.read()
    assert not seen.read()
    with report.open("a") as file:
        file.write('me":"/b"}\n{"kind":"read","name":"/b"}\n{"kind":"name","name":"x.org","addresses":["192.0.2.1", 7]}\n')
    assert seen.read()
    assert (seen["read"], seen.addresses, seen.count) == ({"/a", "/b"}, {"x.org": {"192.0.2.1"}}, 3)


def test_what_is_no_fact_is_left_out(tmp_path: Path) -> None:
    report = tmp_path / "r"
    report.write_bytes(
        b'7\n[]\n\xff\n{"kind":"read"}\n{"kind":"odd","name":"/a"}\n{"kind":"read","name":3}\n'
        b'{"kind":"name","name":"a","addresses":7}\n{"kind":"read","name":"\\udcff"}\n' + b"[" * 50_000 + b"\n"
    )
    seen = Watched(str(report))
    assert seen.read()
    assert (seen["read"], seen.addresses) == ({"\udcff"}, {"a": set()})


def test_a_report_that_a_server_has_made_endless_is_not_read_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "LONGEST_LINE_BYTES", 10)
    report = tmp_path / "r"
    report.write_text("x" * 100)
    seen = Watched(str(report))
    assert not seen.read()
    with report.open("a") as file:
        file.write('\n{"kind":"read","name":"/a"}\n')
    assert not seen.read()


def test_a_path_is_shown_in_one_line() -> None:
    assert printable("/a\nb\udcff") == "/a\\nb\N{REPLACEMENT CHARACTER}"
    assert is_text("/ä b")
    assert not is_text("/a\nb")
    assert not is_text("/\udcff")
