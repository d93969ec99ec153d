from pathlib import Path

import pytest

from tooltray.servers.launch.remembered_variables import VARIABLES, in_environ, meaning, shown

KEY = "a1B2" * 8


@pytest.mark.posix
@pytest.mark.parametrize(
    ("name", "value", "may_be_kept"),
    [
        ("HTTPS_PROXY", "http://proxy.example:8080", True),
        ("http_proxy", "proxy.example:8080/", True),
        ("all_proxy", "socks5h://[::1]:1080", True),
        ("https_proxy", "http://me:key@proxy.example:8080", False),
        ("https_proxy", "me:key@proxy.example:8080", False),
        ("https_proxy", "http://proxy.example/?token=key", False),
        ("NO_PROXY", "localhost,127.0.0.1,.example,[::1],10.0.0.0/8", True),
        ("NO_PROXY", "a=b;key", False),
        ("UV_INDEX_URL", "https://packages.example/simple/", True),
        ("UV_INDEX", "own=https://one.example/simple https://two.example/simple", True),
        ("PIP_INDEX_URL", "https://__token__:key@packages.example/simple", False),
        ("PIP_INDEX_URL", f"https://packages.example/{KEY}/simple", False),
        ("UV_INDEX", "https://one.example/simple https://me@two.example/simple", False),
        ("UV_NATIVE_TLS", "true", True),
        ("UV_NATIVE_TLS", KEY, False),
        ("SSH_AUTH_SOCK", "/tmp", False),
        ("SSL_CERT_FILE", "relative.pem", False),
        ("SSL_CERT_FILE", "", False),
        ("SSL_CERT_FILE", "/no/such/file.pem", False),
        ("SSL_CERT_DIR", "/tmp:/no/such/folder", False),
        ("SSL_CERT_DIR", "/tmp:/", True),
    ],
)
def test_what_may_be_written_has_no_password_and_no_key_and_names_what_is_there(name: str, value: str, may_be_kept: bool) -> None:
    assert VARIABLES[name].can_be_remembered(value) is may_be_kept


def test_a_file_that_is_gone_is_not_used_and_an_address_always_is(tmp_path: Path) -> None:
    file = tmp_path / "company.pem"
    assert not VARIABLES["PIP_CERT"].can_be_used(str(file))
    file.touch()
    assert VARIABLES["PIP_CERT"].can_be_used(str(file))
    assert VARIABLES["SSH_AUTH_SOCK"].can_be_used(str(file))
    assert VARIABLES["HTTPS_PROXY"].can_be_used("anything")


def test_both_spellings_of_a_proxy_mean_the_same() -> None:
    assert meaning("HTTPS_PROXY") == meaning("https_proxy") != meaning("http_proxy")
    assert meaning("SSL_CERT_FILE") == "SSL_CERT_FILE"


def test_of_an_environment_only_those_of_the_table_are_taken() -> None:
    assert in_environ({"SSL_CERT_FILE": "/x", "API_KEY": "key", "no_proxy": ""}) == {"SSL_CERT_FILE": "/x", "no_proxy": ""}


@pytest.mark.parametrize("value", ["http://me:key@proxy:1", "me:key@proxy:1", "a=https://key@one/simple https://key@two/simple"])
def test_people_see_no_password(value: str) -> None:
    assert "key" not in shown(value)
    assert "***@" in shown(value)
