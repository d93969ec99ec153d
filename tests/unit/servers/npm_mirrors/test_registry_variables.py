"""npm_registries.py: the variables by which npm, uv and pip use a registry."""

from pathlib import Path

import pytest

from tooltray.servers.npm_mirrors.npm_registries import npm_variables, python_variables

URL, INDEX = "https://r.example/", "https://p.example/simple/"


def test_npm_gets_the_registry() -> None:
    assert npm_variables(URL, env={}, environ={"PATH": "/bin"}, is_explicit=False) == {"npm_config_registry": URL}


@pytest.mark.parametrize("spelling", ["npm_config_registry", "NPM_CONFIG_REGISTRY"])
def test_what_the_server_s_own_entry_sets_stays(spelling: str) -> None:
    assert npm_variables(URL, env={spelling: "x"}, environ={}, is_explicit=True) == {}


def test_what_the_person_s_environment_sets_stays_unless_the_person_chose_in_tooltray_too() -> None:
    environ = {"NPM_CONFIG_REGISTRY": "x", "npm_config_registry": "y"}
    assert npm_variables(URL, env={}, environ=environ, is_explicit=False) == {}
    assert npm_variables(URL, env={}, environ=environ, is_explicit=True) == dict.fromkeys(environ, URL)


def test_uv_and_pip_get_the_index(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    assert python_variables(INDEX, env={}, environ=environ) == {"UV_DEFAULT_INDEX": INDEX, "PIP_INDEX_URL": INDEX}


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"])
def test_a_person_s_own_index_stays(tmp_path: Path, name: str) -> None:
    environ = {"HOME": str(tmp_path)}
    assert python_variables(INDEX, env={}, environ={**environ, name: "x"}) == {}
    assert python_variables(INDEX, env={name: "x"}, environ=environ) == {}


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (".config/pip/pip.conf", "[global]\nindex-url = https://company.example/simple\n"),
        (".pip/pip.conf", "[global]\nextra-index-url=https://company.example/simple\n"),
        (".config/uv/uv.toml", '[[index]]\nurl = "https://company.example/simple"\n'),
        (".config/uv/uv.toml", 'index-url = "https://company.example/simple"\n'),
        ("roaming/pip/pip.ini", "[global]\nindex-url = https://company.example/simple\n"),
        ("mine.toml", 'default-index = "https://company.example/simple"\n'),
    ],
)
def test_an_index_in_a_file_of_uv_or_pip_stays(tmp_path: Path, place: str, text: str) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    environ = {"HOME": str(tmp_path), "APPDATA": str(tmp_path / "roaming"), "UV_CONFIG_FILE": str(tmp_path / "mine.toml")}
    file.write_text("# index-url is a comment here\ncolor = true\n")
    assert python_variables(INDEX, env={}, environ=environ)
    file.write_text(text)
    assert python_variables(INDEX, env={}, environ=environ) == {}
