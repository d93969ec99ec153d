"""launch/variable_sources.py"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tooltray.launch.remembered_variables import RememberedVariables
from tooltray.launch.variable_sources import Source, VariableSources, make_login_shell


@pytest.fixture
def remembered(tmp_path: Path) -> RememberedVariables:
    return RememberedVariables(tmp_path / "environment.json")


def sources(remembered: RememberedVariables, **system: str) -> VariableSources:
    def look_up(names: Iterable[str], environ: Mapping[str, str]) -> Mapping[str, tuple[str, str]]:
        return {name: (system[name], "the system") for name in names if name in system}

    return VariableSources(remembered, look_up=look_up, complete=dict)


def test_the_login_shell_goes_first_then_the_system_then_what_is_remembered(remembered: RememberedVariables) -> None:
    remembered.remember({"SSL_CERT_DIR": "/", "UV_NATIVE_TLS": "1", "NO_PROXY": "mine"}, is_all=True)
    here = sources(remembered, SSL_CERT_DIR="/usr", UV_NATIVE_TLS="0", SSH_AUTH_SOCK="/tmp")
    completed = here.complete({"SSL_CERT_DIR": "/tmp", "HOME": "/me"})
    assert completed == {"SSL_CERT_DIR": "/tmp", "HOME": "/me", "UV_NATIVE_TLS": "0", "NO_PROXY": "mine", "SSH_AUTH_SOCK": "/tmp"}
    origins = {name: source.origin for name, source in here.sources.items()}
    assert origins == {
        "SSL_CERT_DIR": "login shell",
        "UV_NATIVE_TLS": "the system",
        "NO_PROXY": "remembered",
        "SSH_AUTH_SOCK": "the system",
    }
    assert here.sources["NO_PROXY"].since


@pytest.mark.parametrize("value", ["http://shell:1", ""])
def test_who_sets_one_spelling_of_a_proxy_or_empties_it_has_decided(remembered: RememberedVariables, value: str) -> None:
    remembered.remember({"HTTPS_PROXY": "http://remembered:1"}, is_all=True)
    assert sources(remembered, HTTPS_PROXY="http://system:1").complete({"https_proxy": value}) == {"https_proxy": value}


def test_a_file_that_is_gone_is_not_given_and_the_next_place_is_asked(remembered: RememberedVariables, tmp_path: Path) -> None:
    file, gone = tmp_path / "a.pem", tmp_path / "gone.pem"
    file.touch()
    gone.touch()
    remembered.remember({"SSL_CERT_FILE": str(file), "PIP_CERT": str(gone)}, is_all=True)
    gone.unlink()
    here = sources(remembered, SSL_CERT_FILE=str(gone), PIP_CERT=str(gone))
    assert here.complete({}) == {"SSL_CERT_FILE": str(file)}
    assert here.sources["PIP_CERT"] == Source(str(gone), "the system", is_used=False)


async def test_a_command_without_a_hub_has_the_same(remembered: RememberedVariables, tmp_path: Path) -> None:
    remembered.remember({"UV_NATIVE_TLS": "1"}, is_all=True)
    shell = make_login_shell(tmp_path / "environment.json", {"HOME": str(tmp_path), "SHELL": "/bin/sh"})
    assert (await shell.environ())["UV_NATIVE_TLS"] == "1"
