import json
import stat
from pathlib import Path
from typing import Any

import pytest
from scripts import audit


def package(name: str, *vulnerable: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "version": "1.0", "vulns": [{"id": each, "fix_versions": ["1.1"]} for each in vulnerable], **fields}


def report(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": packages})


def test_vulnerabilities_are_named_with_the_version_that_mends_them() -> None:
    found, summary = audit.outcome(report(package("a", "CVE-1"), package("b")))
    assert found == ["a 1.0: CVE-1, mended in 1.1"]
    assert summary == "Vulnerabilities: 1 in 2 of 2 packages"


def test_one_that_nobody_has_mended_is_named_too() -> None:
    [line], _ = audit.outcome(report(package("a", vulns=[{"id": "CVE-1", "fix_versions": []}])))
    assert line == "a 1.0: CVE-1, mended in no version yet"


@pytest.mark.parametrize("said", ["", "no JSON", "{}", "[]", report({"name": "a", "skip_reason": "not found"}), report()])
def test_without_an_index_or_its_advisories_it_is_said_that_nothing_was_looked_up(said: str) -> None:
    found, summary = audit.outcome(said)
    assert found == []
    assert "not looked up" in summary


@pytest.mark.parametrize(("said", "code"), [(report(package("a")), 0), (report(package("a", "CVE-1")), 1), ("", 0)])
def test_the_check_fails_only_for_a_vulnerability(tmp_path: Path, capsys: pytest.CaptureFixture[str], said: str, code: int) -> None:
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert audit.main([str(program)]) == code
    assert capsys.readouterr().out.splitlines()[-1].startswith("Vulnerabilities: ")


def test_a_program_that_is_not_there_fails_nothing(tmp_path: Path) -> None:
    assert audit.main([str(tmp_path / "none")]) == 0
