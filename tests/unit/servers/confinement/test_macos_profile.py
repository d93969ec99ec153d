"""The text of profiles for `sandbox-exec`: the last rule that fits counts, and everything is refused by the first."""

import re

from tooltray.servers.confinement.macos_profile import sandbox_profile
from tooltray.servers.confinement.policy import Policy
from tooltray.servers.confinement.system_paths import MAC_READ


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
    found = sandbox_profile(Policy(network="none"), ['/a"b\\c") (allow default) ("'], [])
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
