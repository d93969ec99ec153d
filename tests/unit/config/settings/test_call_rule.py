"""call_rule.py, widening.py"""

import shlex
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.config.settings.call_rule import (
    LONGEST_HOST,
    LONGEST_PATH,
    MOST_STEPS,
    Host,
    host_of,
    is_below,
    is_folder,
    is_plain_word,
    read_host,
    read_path,
    read_pattern,
    read_rule,
    written,
)
from tooltray.config.settings.settings_reading import read_settings
from tooltray.config.settings.widening import call_rules_widen, entry_widens, settings_widen
from tooltray.foundation.errors import TooltrayError


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("path", ("path",)),
        ("options.cwd", ("options", "cwd")),
        ("items[*].path", ("items", None, "path")),
        ("rows[*][*]", ("rows", None, None)),
        ('["a.b"].c', ("a.b", "c")),
        ('x["\\u0022"]', ("x", '"')),
        (".".join("a" * MOST_STEPS), ("a",) * MOST_STEPS),
        ("a" * LONGEST_PATH, ("a" * LONGEST_PATH,)),
    ],
)
def test_a_path_is_read_and_written(text: str, path: tuple[str | None, ...]) -> None:
    assert read_path(text) == path
    assert read_path(written(path)) == path


@pytest.mark.parametrize(
    "text",
    [
        *("", "[*]", ".a", "a.", "a..b", "a b", "a[0]", 'a["x]', "a[*]b", '["\\x"]', ".".join("a" * (MOST_STEPS + 1))),
        "a" * (LONGEST_PATH + 1),
    ],
)
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_path(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=5) | st.none(), min_size=1, max_size=4))
def test_every_name_can_be_written(steps: list[str | None]) -> None:
    path = ("first", *steps)
    assert read_path(written(path)) == path


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
        ("example.org:1", Host("example.org", 1)),
        ("example.org:65535", Host("example.org", 65535)),
        ("a" * LONGEST_HOST, Host("a" * LONGEST_HOST)),
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
        *("a:0", "a:65536", "a:", "a:b", "a:80:80", "example.org\\n", " example.org", "example.org\\t", "%65xample.org", "１.example"),
        *("*.example.org", "a" * (LONGEST_HOST + 1)),
    ],
)
def test_what_programs_could_read_in_two_ways_is_no_host(text: str) -> None:
    assert read_host(text) is None


@pytest.mark.parametrize(
    "address",
    [
        *("https://example.org", "HTTP://Example.ORG/", "https://example.org:443/a/../b?c=d&e=%2e#f", "wss://example.org/@x"),
        *("https://example.org?q=1",),
    ],
)
def test_the_host_of_an_address(address: str) -> None:
    assert host_of(address) == Host("example.org")


@pytest.mark.parametrize(
    "address",
    [
        *("https://good.org@example.org/", "https://a:b@example.org", "https://example.org\\@evil.org", "https:/\\example.org"),
        *("http:/example.org", "https:example.org", "https:///example.org", "//example.org", "file://example.org/etc"),
        *("ftp://example.org", "javascript://example.org", "https://example.org /", " https://example.org", "https://example.org\n"),
        *("https://exam\tple.org", "https://example.org/a b", "https://example.org/\0", "https://example.org#@evil.org"),
        *("https://example.org?@evil.org", "https://example.org/`id`", "https://example.org/$(id)", "https://example.org/;id"),
        *("https://ex%61mple.org", "https://example.org%00.evil.org", "https://example。org", "https://example.org:x", "https://[::1"),
        *("https://", "httpſ://example.org"),
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
    ("host", "pattern", "is_in"),
    [("a.b.c", "*.b.c", True), ("b.c", "*.b.c", False), ("xb.c", "*.b.c", False), ("a", "a", True), ("a", "b", False)],
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


RULE: dict[str, Any] = {
    "tool": "run",
    "arguments": {"command": {"command": ["git", "status"], "args": "argv"}, "n": {"number": {"min": 1}, "optional": True}},
    "others": ["note"],
}


def test_a_rule_is_written_as_it_was_read() -> None:
    assert read_rule(RULE).members() == RULE
    places = {"a": {"inside": ["/work", "~/n"]}, "b": {"hosts": ["example.org"]}}
    assert read_rule({"tool": "t", "arguments": places}).members()["arguments"] == places
    assert read_rule({**RULE, "server": None}).text == read_rule(RULE).text
    turned = {**RULE, "arguments": dict(reversed(RULE["arguments"].items()))}
    assert read_rule(turned).text == read_rule(RULE).text
    assert "名前" in read_rule({"tool": "名前"}).text  # as it is: secrets are looked for in it
    assert [each.kind for each in read_rule({**RULE, "arguments": {**RULE["arguments"], **places}}).arguments.values()] == [
        *("command", "number", "inside", "hosts"),
    ]
    assert read_rule({"tool": "t", "arguments": {"a": {"number": {"min": Decimal("0.5"), "max": Decimal(2)}}}}).members()["arguments"] == {
        "a": {"number": {"min": 0.5, "max": 2}}
    }
    assert read_rule({"tool": "t", "arguments": {"a": {"number": {"min": 2, "max": 2}}}}).arguments["a"].number
    assert read_rule({"tool": "t", "arguments": {"a": {"oneOf": [Decimal("1.5"), "x", True, 1]}}}).arguments["a"].one_of == (
        1.5,
        "x",
        True,
        1,
    )


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"a": {"number": {"min": 3, "max": 1}}}, "arguments.a.number: min is more than max: no number is in it"),
        ({"a": {"number": {}}}, "arguments.a.number: must have min or max"),
        ({"a": {"hosts": []}}, "arguments.a.hosts: must not be empty"),
        ({"a": {"hosts": ["https://x"]}}, "arguments.a: hosts: must be names of hosts, as example.org or *.example.org"),
        ({"a": {"inside": ["x"]}}, "arguments.a: inside: must be whole paths of folders, ~/ or {project}"),
        ({"a": {"oneOf": ["x"] * 101}}, "arguments.a.oneOf: has too many values"),
        ({"a": {"equals": "x" * 5000}}, "arguments.a.equals.constrained-str: is too long"),
        ({"a": {}}, "arguments.a: must have exactly one of inside, hosts, command, number, equals and oneOf"),
        ({"a": {"equals": 1, "oneOf": [1]}}, "arguments.a: must have exactly one of inside, hosts, command, number, equals and oneOf"),
        ({"a": {"equals": 1, "more": "any"}}, "arguments.a: more and args belong to a command"),
        ({"a": {"equal": 1}}, "arguments.a.equal: is not known here"),
        ({"a b": {"equals": 1}}, "must be named as path, options.cwd or items[*].path"),
        ({"a": {"equals": 1}, "a.b": {"equals": 1}}, "two paths name the same argument"),
        ({"a": {"command": ["x"], "args": "a"}}, "two paths name the same argument"),
        ({"a": {"command": ["x"], "args": "b c"}}, "must be named as path, options.cwd or items[*].path"),
        ({"a[*]": {"command": ["x"], "args": "b"}}, "a command with args cannot be in a list"),
    ],
)
def test_what_nobody_can_satisfy_or_nobody_knows_cannot_be_used(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(TooltrayError) as error:
        read_rule({"tool": "t", "arguments": arguments})
    assert why in error.value.problem.message


@pytest.mark.parametrize("words", [["git", "a b"], ["git;"], ["A=b", "git"], ["-x"], ["git", ""], ["git", "$HOME"]])
def test_words_of_a_command_are_plain_and_begin_with_a_program(words: list[str]) -> None:
    with pytest.raises(TooltrayError, match="command: must be a list of plain words, without spaces or shell characters"):
        read_rule({"tool": "t", "arguments": {"a": {"command": words}}})


@pytest.mark.parametrize("rule", [{}, {"tool": ""}, {"tool": 3}, "t", {"tool": "t", "others": "all"}, {"tool": "t", "argument": {}}])
def test_other_values_are_no_rules(rule: object) -> None:
    with pytest.raises(TooltrayError, match="This rule cannot be used"):
        read_rule(rule)


def test_a_rule_that_another_one_was_not_widens() -> None:
    one, other = read_rule(RULE), read_rule({"tool": "t"})
    assert call_rules_widen((one,), (one, other))
    assert not call_rules_widen((one, other), (other,))
    entry = {"command": "x", "callRules": [RULE]}
    assert entry_widens("s", {"command": "x"}, entry)
    assert not entry_widens("s", entry, {"command": "x"})


def test_rules_of_a_client_widen_unless_it_has_fewer() -> None:
    found = read_settings({"publish": {"clients": {"c": {"callRules": [RULE, {"tool": "t"}]}}}}).settings

    def widens(client: str, rules: object) -> bool:
        return settings_widen({"publish": {"clients": {client: {"callRules": rules}}}}, found)

    assert not widens("c", [RULE])
    assert not widens("new", [])
    assert not widens("new", None)
    assert widens("c", None)
    assert widens("c", [{"tool": "other"}])
    assert widens("c", [{"tool": 1}])
    assert widens("c", "x")
    assert widens("new", [RULE])


def test_a_rule_on_arguments_that_stands_in_auto_approve_is_sent_where_it_belongs() -> None:
    [slip] = read_settings({"mcpServers": {"s": {"command": "x", "autoApprove": ["read", RULE]}}}).slips
    assert "autoApprove: rules on arguments do not belong here; write them as callRules" in str(slip)
