"""The profile of `sandbox-exec` for a policy, which macOS has in the place of the launcher. The last rule that matches counts, and the
first one refuses everything. The manual page of `sandbox-exec` calls it deprecated; browsers and AI clients use it on macOS."""

from collections.abc import Iterable, Iterator, Sequence

from tooltray.servers.confinement.policy import Policy
from tooltray.servers.confinement.system_paths import MAC_DEVICES, MAC_READ

MACH_NAMES = ("com.apple.system.opendirectoryd.libinfo", "com.apple.system.notification_center", "com.apple.system.logger")
"""User names, changes of the time zone, the log: what any program asks for when it starts. No clipboard, keychain, Apple events."""
MACH_NAMES_OF_NETWORK = ("com.apple.trustd", "com.apple.trustd.agent", "com.apple.SystemConfiguration.configd", "com.apple.dnssd.service")
"""Certificates, proxies, names of hosts."""
RESOLVER = "/private/var/run/mDNSResponder"  # a socket by path: the only one that leads outside, for names of hosts


def sandbox_profile(policy: Policy, read: Sequence[str], write: Sequence[str], private_tmp: str = "") -> str:
    """Returns the text of the profile.

    Args:
        read, write, private_tmp: the policy's paths without links, since rules are compared with such.
    """
    return "\n".join((*_basic(), *_files(read, write), *_network(policy, private_tmp))) + "\n"


def _basic() -> Iterator[str]:
    yield "(version 1)"
    yield "(deny default)"
    yield "(allow process-fork)"
    yield "(allow process-info* (target same-sandbox))"
    yield "(allow signal (target same-sandbox))"
    yield "(allow sysctl-read)"
    yield "(allow ipc-posix-sem)"
    yield "(allow file-read-metadata)"
    yield f"(allow mach-lookup {_each('global-name', MACH_NAMES)})"


def _files(read: Sequence[str], write: Sequence[str]) -> Iterator[str]:
    readable = _each("subpath", (*MAC_READ, *read, *write))
    yield f'(allow file-read* (literal "/") {readable})'
    yield f"(allow file-map-executable process-exec* {readable})"
    yield f"(allow file-read* file-write-data file-ioctl {_each('literal', MAC_DEVICES)})"
    if write:
        yield f"(allow file-write* {_each('subpath', write)})"
        yield f"(deny file-write-setugid {_each('subpath', write)})"


def _network(policy: Policy, private_tmp: str) -> Iterator[str]:
    if private_tmp:
        yield f"(allow system-socket network-bind network-inbound network-outbound {_each('subpath', (private_tmp,))})"
    if policy.network == "proxy":
        yield "(allow system-socket)"
        yield f'(allow network-outbound (remote ip "localhost:{policy.proxy_port}"))'
    if policy.network == "all":
        yield "(allow system-socket)"
        yield '(allow network-outbound (remote ip "*:*"))'
        yield '(allow network-bind network-inbound (local ip "*:*"))'
        yield f"(allow network-outbound {_each('literal', (RESOLVER,))})"
        yield f"(allow mach-lookup {_each('global-name', MACH_NAMES_OF_NETWORK)})"


def _each(kind: str, values: Iterable[str]) -> str:
    return " ".join(f"({kind} {_quoted(value)})" for value in values)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
