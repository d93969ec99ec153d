"""rule_values.py: words, hosts, addresses and folders that mean the same to everybody who reads them."""

import shlex
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.config.settings.rule_values import Host, host_of, is_below, is_folder, is_plain_word, read_host, read_pattern


@pytest.mark.parametrize("word", ["git", "--oneline", "src/a.py", "x=1", "user@host:path", "1.5", "+x", "名前", "é", "a,b"])
def test_plain_words(word: str) -> None:
    assert is_plain_word(word)


@pytest.mark.parametrize(
    "sign", [*" \t\n\r\v\f\0;|&$()<>`\\\"'*?[]{}~!#^%", "\u00a0", "\u2028", "\u202e", "；", "－", "\ud800", "\x1b", "\x85"]
)
def test_no_word_has_a_sign_that_a_shell_reads(sign: str) -> None:
    assert not is_plain_word(sign)
    assert not is_plain_word(f"a{sign}b")


def test_no_word_is_empty_or_names_a_program_by_zshs_equals_sign() -> None:
    assert not is_plain_word("")
    assert not is_plain_word("=ls")


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("abgit-/=.;|&$()<>`\\\"'*~! \t\n#é"), max_size=12))
def test_a_plain_word_is_one_word_to_a_shell(word: str) -> None:
    if is_plain_word(word):
        assert shlex.split(word, comments=True) == [word]


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("example.org", Host("example.org")),
        ("EXAMPLE.org", Host("example.org")),
        ("example.org:443", Host("example.org")),
        ("example.org:8443", Host("example.org", 8443)),
        ("xn--bcher-kva.example", Host("xn--bcher-kva.example")),
        ("localhost", Host("localhost")),
        ("127.0.0.1:80", Host("127.0.0.1")),
        ("[::1]:7717", Host("[::1]", 7717)),
    ],
)
def test_hosts(text: str, host: Host) -> None:
    assert read_host(text) == host


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "example.org.", "-a.org", "a-.org", "a..org", "a_b.org", "bücher.example", "exаmple.org", "a b", "a@b", "a\\b", "a/b"),
        *("2130706433", "0x7f000001", "127.1", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5", "0x7f.1", "[0:0::1]", "[::1", "[::1%25lo]", "[]"),
        *(
            "a:0",
            "a:65536",
            "a:",
            "a:b",
            "a:80:80",
            "example.org\n",
            " example.org",
            "example.org\t",
            "a" * 254,
            "%65xample.org",
            "１.example",
            "*.example.org",
        ),
    ],
)
def test_what_programs_could_read_in_two_ways_is_no_host(text: str) -> None:
    assert read_host(text) is None


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org",
        "HTTP://Example.ORG/",
        "https://example.org:443/a/../b?c=d&e=%2e#f",
        "wss://example.org/@x",
        "https://example.org?q=1",
    ],
)
def test_the_host_of_an_address(address: str) -> None:
    assert host_of(address) == Host("example.org")


@pytest.mark.parametrize(
    "address",
    [
        *(
            "https://good.org@example.org/",
            "https://a:b@example.org",
            "https://example.org\\@evil.org",
            "https:/\\example.org",
            "http:/example.org",
        ),
        *(
            "https:example.org",
            "https:///example.org",
            "//example.org",
            "file://example.org/etc",
            "ftp://example.org",
            "javascript://example.org",
        ),
        *(
            "https://example.org /",
            " https://example.org",
            "https://example.org\n",
            "https://exam\tple.org",
            "https://example.org/a b",
            "https://example.org/\0",
        ),
        *(
            "https://example.org#@evil.org",
            "https://example.org?@evil.org",
            "https://example.org/`id`",
            "https://example.org/$(id)",
            "https://example.org/;id",
        ),
        *(
            "https://ex%61mple.org",
            "https://example.org%00.evil.org",
            "https://example。org",
            "https://example.org:x",
            "https://[::1",
            "https://",
            "httpſ://example.org",
        ),
    ],
)
def test_an_address_that_parsers_could_read_in_two_ways_has_no_host(address: str) -> None:
    assert host_of(address) is None


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("ab.:/@\\?#%[] \t\nhtps1"), max_size=16).map(lambda text: f"https://{text}"))
def test_where_a_host_is_found_the_standard_library_finds_the_same(address: str) -> None:
    if host := host_of(address):
        assert urlsplit(address).hostname == host.name.strip("[]")
        assert urlsplit(address).username is None
        assert urlsplit(address).port in (host.port, None, 80, 443)


@pytest.mark.parametrize(
    ("host", "pattern", "is_in"), [("a.b.c", "*.b.c", True), ("b.c", "*.b.c", False), ("xb.c", "*.b.c", False), ("a", "a", True)]
)
def test_what_is_below_a_host(host: str, pattern: str, is_in: bool) -> None:
    assert is_below(host, pattern) is is_in


def test_patterns_name_at_least_two_parts_of_a_name() -> None:
    assert read_pattern("*.example.org:81") == Host("*.example.org", 81)
    assert read_pattern("example.org") == Host("example.org")
    assert [read_pattern(each) for each in ("*", "*.", "*.org", "*.127.0.0.1", "*.*.org", "a.*.org", "*example.org")] == [None] * 7


@pytest.mark.parametrize(("folder", "is_one"), [("/a b", True), ("~", True), ("~/n", True), ("{project}", True), ("{project}/src", True)])
def test_folders_that_rules_name(folder: str, is_one: bool) -> None:
    assert is_folder(folder) is is_one


@pytest.mark.parametrize(
    "folder", ["", "a", "./a", "~ann/x", "/a/../b", "~/..", "{project}/..", "{project}x", "/a\0", "{project}/\0", "{home}/a"]
)
def test_what_is_no_folder(folder: str) -> None:
    assert not is_folder(folder)
