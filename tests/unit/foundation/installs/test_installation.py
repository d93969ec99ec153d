import json
import sys
from pathlib import Path

import pytest

from tooltray import __version__
from tooltray.foundation.installs import installation
from tooltray.foundation.installs.installation import KINDS, Installation, this_installation


def of(version: str, kind: str = "wheel", *bridge: str) -> Installation:
    return Installation(kind, version, bridge)


def test_versions_are_sorted_as_numbers_and_what_comes_before_a_version_before_it() -> None:
    versions = ["0.2.0", "0.10.0rc1", "0.10.0", "0.10.0+local", "1", "1.0.1"]
    assert sorted(versions, key=lambda version: of(version).age) == versions
    assert of("none").age < of("0.1").age


@pytest.mark.posix
def test_an_installation_is_there_while_its_program_and_script_are(tmp_path: Path) -> None:
    program, script = tmp_path / "python", tmp_path / "bridge.py"
    program.touch(mode=0o755)
    script.touch()
    assert of("1", "wheel", str(program), "-I", str(script)).is_there
    assert not of("1", "wheel", str(program), "-I", str(tmp_path / "gone.py")).is_there
    program.chmod(0o644)
    assert not of("1", "wheel", str(program), "-I", str(script)).is_there
    assert not of("1", "wheel").is_there


def test_this_one_is_a_checkout() -> None:
    this = this_installation()
    assert (this.kind, this.version, this.is_packaged, this.is_there) == ("checkout", __version__, False, True)
    assert __version__ in this.words


def test_without_a_source_around_it_it_is_a_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "lib" / "python" / "tooltray" / "installs" / "installation.py"))
    assert this_installation().kind == "wheel"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (json.dumps({"kind": "deb"}), "deb"),
        (json.dumps({"kind": "macos-app"}), "macos-app"),
        (json.dumps({"kind": "unknown"}), "archive"),
        ("[]", "archive"),
        ("{}", "archive"),
        ("no JSON", "archive"),
        (None, "archive"),
    ],
)
def test_a_package_says_its_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str | None, kind: str) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "tooltray"))
    if said is not None:
        (tmp_path / "install.json").write_text(said)
    assert this_installation().kind == kind
    assert kind in KINDS


def test_an_app_for_macos_has_its_kind_among_the_resources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("MacOS", "Resources"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "MacOS" / "tooltray"))
    (tmp_path / "Resources" / "install.json").write_text(json.dumps({"kind": "macos-app"}))
    assert this_installation().kind == "macos-app"
