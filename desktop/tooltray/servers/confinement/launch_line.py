"""The limits of a confined process, and the command line and the environment that put them on it: the launcher, and bubblewrap around it
if that works.

tooltray_confine defines the options. bubblewrap does what Landlock cannot: it makes the rest of the disk read-only, and a /tmp, a /dev
and a PID namespace for the server. The launcher, inside, does everything else, also without bubblewrap. On macOS `sandbox-exec` is used.

All processes end with the server: the hub kills the process group. With bubblewrap its first process is killed with the group, and the
kernel then ends everything in its PID namespace. Without it no process can leave the group, since `setsid` and `setpgid` do nothing
(tooltray/servers/launch/process_family.py).
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from tooltray.foundation.programs import launcher_command, launcher_folders
from tooltray.servers.confinement.confinements import BUBBLEWRAP_OPTIONS, IGNORING_TERM, Support, can_confine
from tooltray.servers.launch.program_launch import files_of_children

Network = Literal["all", "none", "proxy"]
LINUX_READ = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/snap", "/nix/store", "/gnu/store"),
    *("/home/linuxbrew/.linuxbrew", "/etc/alternatives", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies"),
    *("/etc/debian_version", "/etc/fonts", "/etc/gai.conf", "/etc/gitconfig", "/etc/group", "/etc/host.conf", "/etc/hostname"),
    *("/etc/hosts", "/etc/inputrc", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/locale.conf"),
    *("/etc/localtime", "/etc/lsb-release", "/etc/magic", "/etc/mailcap", "/etc/mime.types", "/etc/networks", "/etc/nsswitch.conf"),
    *("/etc/os-release", "/etc/passwd", "/etc/perl", "/etc/pki/ca-trust", "/etc/pki/tls/cert.pem", "/etc/pki/tls/certs"),
    *("/etc/pki/tls/openssl.cnf", "/etc/protocols", "/etc/redhat-release", "/etc/resolv.conf", "/etc/rpc", "/etc/services"),
    *("/etc/shells", "/etc/ssl/cert.pem", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/static", "/etc/terminfo", "/etc/timezone"),
    *("/etc/xdg", "/var/cache/fontconfig", "/var/lib/ca-certificates", "/proc", "/sys/devices/system/cpu", "/sys/devices/system/node"),
    *("/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"),
)
LINUX_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""Devices that may be written to. The rest of /dev is shared with all programs: terminals, shared memory."""
LINUX_OWN_DEVICES = (*LINUX_DEVICES, "/dev/ptmx", "/dev/pts", "/dev/shm", "/dev/tty")
"""The same if bubblewrap makes a /dev for the server."""
MAC_READ = (
    *("/bin", "/sbin", "/usr", "/opt", "/System", "/Library/Apple", "/Library/Developer", "/Library/Fonts", "/Library/Frameworks"),
    *("/Library/Java", "/Library/Preferences/.GlobalPreferences.plist", "/private/etc/hosts", "/private/etc/localtime"),
    *("/private/etc/passwd", "/private/etc/protocols", "/private/etc/resolv.conf", "/private/etc/services", "/private/etc/ssl"),
    *("/private/var/db/dyld", "/private/var/db/timezone", "/private/var/select", "/dev/fd", "/dev/random", "/dev/urandom"),
    "/dev/autofs_nowait",
)
MAC_DEVICES = ("/dev/null", "/dev/zero", "/dev/dtracehelper")


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one process.

    Attributes:
        read: absolute paths that may be read and run, each with all below it; missing ones are left out.
        write: absolute paths that may be changed, too.
        network: "all"; "none": only pairs of sockets that it makes itself; "proxy": only TCP to `proxy_port` of this computer.
        proxy_port: of the hub's proxy for this server; 0 unless `network` is "proxy".
        private_tmp: a folder that replaces /tmp if bubblewrap is available; it is writable in any case. It must not be inside a folder of
            `write`, where the server could replace it. Empty: /tmp itself.
        file_bytes: the size of the largest file that it may write; 0: any.
        processes: how many processes and threads its user may have meanwhile; 0: any.
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    network: Network = "all"
    proxy_port: int = 0
    private_tmp: str = ""
    file_bytes: int = 0
    processes: int = 0


MACH_NAMES = ("com.apple.system.opendirectoryd.libinfo", "com.apple.system.notification_center", "com.apple.system.logger")
"""User names, changes of the time zone, the log: every program needs these when it starts. No clipboard, keychain, Apple events."""
MACH_NAMES_OF_NETWORK = ("com.apple.trustd", "com.apple.trustd.agent", "com.apple.SystemConfiguration.configd", "com.apple.dnssd.service")
"""Certificates, proxies, names of hosts."""
RESOLVER = "/private/var/run/mDNSResponder"  # a socket by path, to resolve names of hosts: the only one that leads outside
CARRIED = "TOOLTRAY_CONFINED_"
"""Begins the names of a server's variables on their way through bubblewrap and the launcher, which hands them on under their own names."""
MOST_LINKS = 40  # on the way to a path, as the kernel has it
EVERYTHING = "/"
KERNEL_KEYS = "/proc/keys"  # the names of all keys that the kernel keeps for the user; the calls that read the keys are refused


def sandbox_profile(policy: Policy, read: Sequence[str], write: Sequence[str], private_tmp: str) -> str:
    """Returns the text of the profile.

    Args:
        read, write, private_tmp: the policy's paths, with links resolved, since macOS compares rules with such paths.
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


def confined(policy: Policy, support: Support, program: str, args: Sequence[str]) -> tuple[str, ...]:
    """Returns the command line that runs a program confined. Start it with `carried(env)`, or the program gets no variables.

    Reads the disk for a moment. Returns the program itself if this computer cannot confine it, which `missing` reports.

    Args:
        program: its absolute path.
    """
    if not can_confine(support):
        return (program, *args)
    read, write = lasting(policy, program)
    private_tmp = os.path.realpath(policy.private_tmp) if policy.private_tmp else ""
    private_tmp = private_tmp if private_tmp in write else ""  # see `lasting`
    if support.system == "darwin":
        return (support.sandbox_exec, "-p", sandbox_profile(policy, read, write, private_tmp), program, *args)
    is_wrapped = bool(support.bwrap) and EVERYTHING not in write
    own = LINUX_DEVICES
    around: tuple[str, ...] = ()
    if is_wrapped:
        own = (*LINUX_OWN_DEVICES, *(("/tmp",) if private_tmp else ()))
        around = _bubblewrap(policy, support, read, write, private_tmp)
    orders = _orders(policy, support, (*LINUX_READ, *read), (*own, *write))
    return (*around, *launcher_command(), "--own-ids" if is_wrapped else "--keep-group", *orders, "--", program, *args)


def carried(env: Mapping[str, str], support: Support) -> dict[str, str]:
    """Returns a server's environment for a command line of `confined`: no variable acts on the launcher (LD_PRELOAD would, before anything
    is confined)."""
    if support.system != "linux" or not can_confine(support):
        return dict(env)
    return {CARRIED + name: value for name, value in env.items()}


def lasting(policy: Policy, program: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the paths of a policy without links, first those to read, then those to write; missing ones are left out.

    A path is left out, too, if it is in a writable folder, or a link in such a folder leads to it: then the server itself could replace it,
    before its next start, by a link to any other place.
    """
    write = (*policy.write, *((policy.private_tmp,) if policy.private_tmp else ()))
    folders = changeable(write)
    return _without_links((*policy.read, program), folders), _without_links(write, folders)


def _without_links(paths: Iterable[str], folders: Sequence[str]) -> tuple[str, ...]:
    real = dict.fromkeys(os.path.realpath(path) for path in paths if not leads_through(path, folders))
    return tuple(path for path in real if os.path.lexists(path))


def changeable(write: Sequence[str]) -> list[str]:
    """Returns the real folders that a server may write, without folders that are reached by a link inside another one."""
    certain = [path for path in write if os.path.realpath(path) == path]  # without links, so the server cannot have redirected these
    return certain + [os.path.realpath(path) for path in write if not leads_through(path, certain)]


def leads_through(path: str, folders: Sequence[str]) -> bool:
    """Reports whether the way to a path passes through something in one of these folders."""
    ahead, here, links = path.split("/"), EVERYTHING, 0
    while ahead:
        name, *ahead = ahead
        here = os.path.normpath(os.path.join(here, name))
        if any(here != folder and here.startswith(folder.rstrip("/") + "/") for folder in folders):
            return True
        if os.path.islink(here):
            links += 1
            if links > MOST_LINKS:
                return True
            ahead, here = [*os.readlink(here).split("/"), *ahead], os.path.dirname(here)
            here = EVERYTHING if ahead[0] == "" else here
    return False


def _bubblewrap(policy: Policy, support: Support, read: Sequence[str], write: Sequence[str], private_tmp: str) -> tuple[str, ...]:
    words = [support.bwrap, *BUBBLEWRAP_OPTIONS]
    if os.path.exists(KERNEL_KEYS):
        words += ["--ro-bind", os.devnull, KERNEL_KEYS]
    if support.env:
        words = [support.env, IGNORING_TERM, *words]
    if sys.platform != "win32" and os.geteuid() == 0:
        words += ["--cap-add", "CAP_DAC_OVERRIDE"]  # see tooltray_confine/capabilities.py
    if policy.network == "none":
        words += ["--unshare-net"]
    if private_tmp:
        words += ["--bind", private_tmp, "/tmp"]
        for path in (each for each in (*launcher_folders(), *read) if each.startswith("/tmp/")):
            words += ["--ro-bind", path, path]
    for path in write:
        words += ["--bind", path, path]
    return (*words, "--")


def _orders(policy: Policy, support: Support, read: Sequence[str], write: Sequence[str]) -> list[str]:
    network = f"proxy:{policy.proxy_port}" if policy.network == "proxy" else policy.network
    words = ["--abi", str(support.abi), "--network", network]
    numbers = {"--file-bytes": policy.file_bytes, "--processes": policy.processes, "--open-files": files_of_children()}
    for option, number in numbers.items():
        words += [option, str(number)] if number else []
    for option, paths in (("--read", read), ("--write", write)):
        for path in paths:
            words += [option, path]
    return words
