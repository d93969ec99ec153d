import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tooltray.foundation.programs import launcher_command
from tooltray.servers.confinement import launch_line
from tooltray.servers.confinement.confinements import Support
from tooltray.servers.confinement.launch_line import (
    LINUX_DEVICES,
    LINUX_OWN_DEVICES,
    LINUX_READ,
    MAC_READ,
    MOST_LINKS,
    Policy,
    carried,
    confined,
    lasting,
    leads_through,
    sandbox_profile,
)

PLAIN = Support("linux", 7, True)
KEYS_COVERED = [os.devnull] if os.path.exists("/proc/keys") else []
WRAPPED = Support("linux", 7, True, "/usr/bin/bwrap", "/usr/bin/env")
PROGRAM = "/bin/sh"


def rules(policy: Policy, read=(), write=(), private_tmp="") -> list[str]:
    return sandbox_profile(policy, read, write, private_tmp).splitlines()


def test_everything_is_refused_before_anything_is_allowed():
    found = rules(Policy(network="none"))
    assert found[:2] == ["(version 1)", "(deny default)"]
    assert all(rule.startswith("(allow ") for rule in found[2:])


def test_paths_to_read_can_be_run_and_only_those_to_write_be_changed():
    found = rules(Policy(network="none"), ["/Users/a/package"], ["/Users/a/own"])
    reading = next(rule for rule in found if rule.startswith('(allow file-read* (literal "/")'))
    running = next(rule for rule in found if rule.startswith("(allow file-map-executable process-exec*"))
    for rule in (reading, running):
        assert re.findall(r'\(subpath "([^"]*)"\)', rule) == [*MAC_READ, "/Users/a/package", "/Users/a/own"]
    assert [rule for rule in found if "file-write*" in rule] == ['(allow file-write* (subpath "/Users/a/own"))']
    assert found.index('(allow file-write* (subpath "/Users/a/own"))') < found.index('(deny file-write-setugid (subpath "/Users/a/own"))')


def test_quotes_and_backslashes_of_a_path_stay_in_its_string():
    found = sandbox_profile(Policy(network="none"), ['/a"b\\c") (allow default) ("'], [], "")
    assert '(subpath "/a\\"b\\\\c\\") (allow default) (\\"")' in found
    unquoted = re.sub(r'"(?:\\.|[^"\\])*"', '""', found)
    assert "allow default" not in unquoted
    assert unquoted.count("(") == unquoted.count(")")


def test_signals_and_looks_reach_its_own_processes_alone():
    found = rules(Policy(network="none"))
    assert {rule for rule in found if "signal" in rule or "process-info" in rule} == {
        "(allow signal (target same-sandbox))",
        "(allow process-info* (target same-sandbox))",
    }


def test_without_a_network_there_is_none():
    found = "\n".join(rules(Policy(network="none")))
    assert "network" not in found
    assert "system-socket" not in found


def test_sockets_by_path_are_its_own_alone():
    found = rules(Policy(network="none"), private_tmp="/private/tmp/own")
    assert [rule for rule in found if "network" in rule] == [
        '(allow system-socket network-bind network-inbound network-outbound (subpath "/private/tmp/own"))'
    ]


def test_the_proxy_is_a_port_of_this_computer():
    found = rules(Policy(network="proxy", proxy_port=8123))
    assert [rule for rule in found if "network" in rule] == ['(allow network-outbound (remote ip "localhost:8123"))']


def test_all_of_the_network_has_names_and_certificates():
    found = "\n".join(rules(Policy(network="all")))
    assert '(allow network-outbound (remote ip "*:*"))' in found
    assert '(literal "/private/var/run/mDNSResponder")' in found
    assert "com.apple.trustd" in found
    for never in ("com.apple.securityd", "com.apple.pasteboard", "com.apple.coreservices.appleevents", "com.apple.launchd"):
        assert never not in found


def words(line: tuple[str, ...], option: str) -> list[str]:
    return [value for word, value in pairwise(line) if word == option]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    return folder


def test_the_launcher_stands_before_the_program(own: Path, package: Path):
    policy = Policy(read=(str(package), "/not/there"), write=(str(own),), network="none", file_bytes=5, processes=6)
    line = confined(policy, PLAIN, PROGRAM, ["-c", "x"])
    assert list(line[: len(launcher_command())]) == launcher_command()
    assert line[-4:] == ("--", PROGRAM, "-c", "x")
    assert set(words(line, "--read")) == {*LINUX_READ, str(package), os.path.realpath(PROGRAM)}
    assert set(words(line, "--write")) == {*LINUX_DEVICES, str(own)}
    assert words(line, "--network") == ["none"]
    assert words(line, "--abi") == ["7"]
    assert (words(line, "--file-bytes"), words(line, "--processes")) == (["5"], ["6"])
    assert "--keep-group" in line


def test_bubblewrap_stands_around_it_and_ends_by_the_kill_alone(own: Path, package: Path, monkeypatch: pytest.MonkeyPatch):
    private = own.parent / "tmp"
    private.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    policy = Policy(read=(str(package), "/tmp/."), write=(str(own),), network="proxy", proxy_port=81, private_tmp=str(private))
    line = confined(policy, WRAPPED, PROGRAM, [])
    assert line[:3] == ("/usr/bin/env", "--ignore-signal=TERM", "/usr/bin/bwrap")
    inside = line[line.index("--") + 1 :]
    assert list(inside[: len(launcher_command())]) == launcher_command()
    assert "--own-ids" in inside
    assert words(inside, "--network") == ["proxy:81"]
    assert set(words(inside, "--write")) == {"/tmp", *LINUX_OWN_DEVICES, str(own), str(private)}
    outside = line[: line.index("--")]
    binds = [outside[at + 1 : at + 3] for at, word in enumerate(outside) if word == "--bind"]
    assert binds == [(str(private), "/tmp"), (str(own), str(own)), (str(private), str(private))]
    assert {"--unshare-net", "--cap-add"}.isdisjoint(outside)


def test_folders_in_tmp_are_put_into_the_servers_own(tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os.path, "realpath", lambda path: "/tmp/package" if path == "package" else str(path))
    monkeypatch.setattr(os.path, "lexists", lambda path: True)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(launch_line, "launcher_folders", lambda: ["/tmp/tooltray", "/opt/python"])  # without it, nothing would start
    support = Support("linux", 7, True, "/usr/bin/bwrap")
    line = confined(Policy(read=("package",), write=(str(own),), network="none", private_tmp="/var/private"), support, PROGRAM, [])
    assert line[0] == "/usr/bin/bwrap"
    assert words(line, "--ro-bind") == ["/", *KEYS_COVERED, "/tmp/tooltray", "/tmp/package"]
    assert words(line, "--cap-add") == ["CAP_DAC_OVERRIDE"]
    assert "--unshare-net" in line


@pytest.mark.parametrize("exists", [False, True])
def test_names_of_the_kernel_s_keys_are_covered_where_it_lists_them(own: Path, monkeypatch: pytest.MonkeyPatch, exists: bool):
    monkeypatch.setattr(os.path, "exists", lambda path: exists)
    outside = confined(Policy(write=(str(own),)), WRAPPED, PROGRAM, [])
    assert (("--ro-bind", os.devnull, "/proc/keys") in zip(outside, outside[1:], outside[2:], strict=False)) == exists


def test_who_may_change_everything_gets_no_other_view_of_the_disk():
    line = confined(Policy(read=("/",), write=("/",), network="none"), WRAPPED, PROGRAM, [])
    assert list(line[: len(launcher_command())]) == launcher_command()
    assert "/" in words(line, "--write")


def test_nothing_is_put_around_a_program_where_nothing_can_be():
    assert confined(Policy(), Support("windows"), PROGRAM, ["x"]) == (PROGRAM, "x")
    assert carried({"A": "1"}, Support("windows")) == {"A": "1"}


def test_on_macos_it_is_sandbox_exec_with_the_servers_own_variables(own: Path):
    support = Support("darwin", sandbox_exec="/usr/bin/sandbox-exec")
    line = confined(Policy(write=(str(own),)), support, PROGRAM, ["x"])
    assert (line[:2], line[3:]) == (("/usr/bin/sandbox-exec", "-p"), (PROGRAM, "x"))
    assert f'(allow file-write* (subpath "{own}"))' in line[2]
    assert carried({"A": "1"}, support) == {"A": "1"}


def test_variables_have_no_effect_on_the_way():
    assert carried({"LD_PRELOAD": "x", "PATH": "/bin"}, PLAIN) == {"TOOLTRAY_CONFINED_LD_PRELOAD": "x", "TOOLTRAY_CONFINED_PATH": "/bin"}


def test_links_are_followed_once_and_by_the_hub(tmp_path: Path, own: Path, package: Path):
    (tmp_path / "to-package").symlink_to(package)
    (tmp_path / "to-own").symlink_to("own")
    policy = Policy(read=(str(tmp_path / "to-package"),), write=(str(tmp_path / "to-own"), str(tmp_path / "missing")))
    read, write = lasting(policy, PROGRAM)
    assert read == (str(package), os.path.realpath(PROGRAM))
    assert write == (str(own),)


def test_a_server_cannot_replace_a_path_of_its_profile_by_a_link_to_something_else(tmp_path: Path, own: Path):
    """It could have replaced it in its last run, by a link to a key."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (own / "cache").symlink_to(secret)
    (tmp_path / "way").symlink_to(own)
    (tmp_path / "long-way").symlink_to(own / "cache")
    (tmp_path / "there-and-back").symlink_to("own/../own/./cache")
    others = tuple(str(tmp_path / name) for name in ("own/cache", "way/cache", "long-way", "there-and-back"))
    for policy in (Policy(read=others, write=(str(own),)), Policy(write=(str(own), *others))):
        read, write = lasting(policy, PROGRAM)
        assert str(secret) not in (*read, *write)
        assert str(own) in write


def test_its_tmp_is_not_one_that_it_could_have_replaced(tmp_path: Path, own: Path):
    (own / "tmp").symlink_to(tmp_path)
    line = confined(Policy(write=(str(own),), private_tmp=str(own / "tmp")), WRAPPED, PROGRAM, [])
    assert "/tmp" not in words(line, "--write")
    assert [line[at + 1] for at, word in enumerate(line) if word == "--bind"] == [str(own)]


def test_links_that_lead_nowhere_or_round_are_left_out(tmp_path: Path, own: Path):
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "nowhere").symlink_to("/not/there")
    for number in range(MOST_LINKS):
        (tmp_path / f"{number + 1}").symlink_to(f"{number}")
    (tmp_path / "0").touch()
    assert not leads_through(f"{tmp_path}/{MOST_LINKS}", ())
    (tmp_path / "more").symlink_to(f"{MOST_LINKS}")
    assert leads_through(f"{tmp_path}/more", ())
    read, _ = lasting(Policy(read=(str(tmp_path / "round"), str(tmp_path / "nowhere")), write=(str(own),)), PROGRAM)
    assert read == (os.path.realpath(PROGRAM),)
