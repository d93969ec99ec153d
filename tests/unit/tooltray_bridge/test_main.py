"""The script that AI clients start."""

import runpy
import sys
from pathlib import Path

import pytest

import tooltray_bridge


def test_the_package_is_found_last_of_all(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    before = list(sys.path)
    monkeypatch.setattr(sys, "path", list(before))
    monkeypatch.setattr(sys, "argv", ["tooltray_bridge", "--help"])

    with pytest.raises(SystemExit) as ended:
        runpy.run_module("tooltray_bridge", run_name="tooltray_bridge.__main__")

    assert ended.value.code == 0
    assert sys.path == [*before, str(Path(tooltray_bridge.__file__).parents[1])]
    assert "usage: tooltray-bridge" in capsys.readouterr().out
