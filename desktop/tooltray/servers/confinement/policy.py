"""The limits that the launcher puts on one process, as plain values: paths, network, sizes. `tooltray_confine` applies them."""

from typing import Literal

import msgspec

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
