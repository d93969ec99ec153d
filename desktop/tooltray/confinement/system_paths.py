"""What any program of this system needs to run: its libraries, certificates, names of hosts, the clock; by system.

Above it: the profiles. Below it: nothing. Paths that are not there are left out by the launcher.
"""

import sys
from collections.abc import Mapping

_ETC = (
    *("ssl", "pki", "ca-certificates", "crypto-policies", "openssl", "resolv.conf", "nsswitch.conf", "hosts", "host.conf", "hostname"),
    *("gai.conf", "services", "protocols", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld.so.preload", "localtime", "timezone"),
    *("passwd", "group", "fonts", "mime.types", "alternatives", "os-release", "lsb-release", "locale.alias", "locale.conf", "magic"),
)
_LINUX = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/snap", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew"),
    *(f"/etc/{name}" for name in _ETC),
    *("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf"),
    *("/var/cache/fontconfig", "/var/lib/ca-certificates"),
    *("/proc", "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"),
    *("/dev/random", "/dev/urandom"),
)
_MACOS = (
    *("/usr", "/bin", "/sbin", "/System", "/Library/Apple", "/Library/Frameworks", "/Library/Developer", "/Library/Fonts"),
    *("/opt/homebrew", "/opt/local", "/private/etc/ssl", "/private/etc/hosts", "/private/etc/resolv.conf", "/private/etc/passwd"),
    *("/private/etc/services", "/private/etc/protocols", "/private/etc/localtime", "/private/var/db/timezone", "/private/var/db/dyld"),
    *("/private/var/run/resolv.conf", "/dev/random", "/dev/urandom", "/dev/fd"),
)
_READ: Mapping[str, tuple[str, ...]] = {"darwin": _MACOS}
SYSTEM_READ = _READ.get(sys.platform, _LINUX)
"""No terminal, no disk, no socket; of /etc what every program reads, and nothing of the machine's own."""
SYSTEM_WRITE = ("/dev/null", "/dev/zero", "/dev/full")
