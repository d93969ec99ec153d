"""self_test.py"""

import hashlib
import io
import json
import sys

import pytest

from tooltray.app import self_test
from tooltray.foundation.programs import resource


def test_it_names_what_cannot_be_imported_and_what_it_has_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("tooltray.foundation.programs\ntooltray.nothing\n"))

    assert self_test.main() == 0

    written = json.loads(capsys.readouterr().out)
    assert written["failed"] == {"tooltray.nothing": "ModuleNotFoundError: No module named 'tooltray.nothing'"}
    verbs = "verbs.json"
    assert written["resources"][verbs] == hashlib.sha256(resource(verbs).read_bytes()).hexdigest()
