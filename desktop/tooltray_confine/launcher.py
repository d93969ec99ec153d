"""Drops rights of this process, step by step, and becomes the program. Each step is final, for this process and all that it starts."""

import _signal  # type: ignore[import-not-found]  # `signal` imports enum, which costs 4 ms
import posix
import sys

from tooltray_confine import capabilities, landlock
from tooltray_confine.kernel import Memory, call, number_of
from tooltray_confine.options import Options, Wrong, parse
from tooltray_confine.seccomp_program import assemble
from tooltray_confine.seccomp_rules import SIGNALS_ABI, rules
from tooltray_confine.syscall_numbers import PROCESSORS

CANNOT = 126  # the exit code of shells for a program that exists and cannot be run
CARRIED = b"TOOLTRAY_CONFINED_"
"""Begins the names of the program's variables on their way through bubblewrap and this process, so that neither uses one of them:
LD_PRELOAD would run code here, before anything is confined."""
OWN = b"TOOLTRAY_"  # begins the names of variables by which the hub finds its servers again
PROXY_ABI = 4
_SET_NO_NEW_PRIVS = 38
_FIRST_TO_GO = b"500"  # of 1000: as if it used another half of all memory
_SET_FILTER, _NEW_LISTENER = 1, 8
_FIRST_OTHER_FILE, _LAST_OTHER_FILE = 3, (1 << 31) - 1  # after stdin, stdout, stderr


def main(words: "list[str]") -> int:
    """Becomes the program.

    Args:
        words: see `options`.

    Returns:
        CANNOT, after the reason on stderr; or the exit code of a program whose connections were made here.
    """
    try:
        options = parse(words)
        processor, abi = _processor(), options.abi
        _check(options)
        _limit(options)
        _offer_to_memory_killer()
        call(number_of("prctl"), _SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        protected = () if abi >= SIGNALS_ABI or options.has_own_ids else relatives(posix.getppid())
        asking = None
        if options.network == "proxy":
            from tooltray_confine.connects import Asking  # a server without the network does not wait for it

            asking = Asking(options.proxy_port)
            if asking.is_outside:
                return asking.serve()
        listener = _confine(options, processor, abi, protected)
        if asking:
            asking.hand_over(listener)
        _execute(options)
    except (Wrong, OSError) as error:
        sys.stderr.write(f"tooltray: cannot be sandboxed: {error}\n")
    return CANNOT


def environment(environ: "dict[bytes, bytes]") -> "dict[bytes, bytes]":
    """Returns the program's variables: those that were carried, under their own names, and the hub's."""
    own = {name: value for name, value in environ.items() if name.startswith(OWN) and not name.startswith(CARRIED)}
    return own | {name[len(CARRIED) :]: value for name, value in environ.items() if name.startswith(CARRIED)}


def relatives(parent: int) -> "tuple[int, ...]":
    """Returns the process numbers to which the program may send no signal: the hub, its group, and its parent, the guardian."""
    try:
        with open(f"/proc/{parent}/stat", "rb") as file:
            grandparent, group = file.read().rpartition(b")")[2].split()[1:3]
    except OSError:  # the hub has ended
        return (parent,)
    return tuple({parent, int(grandparent), -int(group), -parent} - {0, 1})


def _processor() -> str:
    processor = posix.uname().machine
    if processor not in PROCESSORS or sys.maxsize < 1 << 32:
        raise Wrong(f"unknown processor: {processor}")
    return processor


def _check(options: Options) -> None:
    newest = landlock.newest_abi()
    if newest < options.abi:
        raise Wrong(f"Landlock of this kernel has the ABI {newest}, and was {options.abi} when Tooltray started")
    if options.network == "proxy" and options.abi < PROXY_ABI:
        raise Wrong(f"Landlock of this kernel has no rules for TCP: its ABI is {options.abi}")


def _offer_to_memory_killer() -> None:
    """Makes the kernel end this process before the hub and the user's programs if memory runs out."""
    try:
        file = posix.open("/proc/self/oom_score_adj", posix.O_WRONLY | posix.O_CLOEXEC)
    except OSError:  # no /proc here, or a container that denies it
        return
    try:
        posix.write(file, _FIRST_TO_GO)
    finally:
        posix.close(file)


def _limit(options: Options) -> None:
    import resource

    limits = {resource.RLIMIT_CORE: 0}
    if options.file_bytes:
        limits[resource.RLIMIT_FSIZE] = options.file_bytes
    if options.processes:
        limits[resource.RLIMIT_NPROC] = options.processes
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    if options.open_files:  # only the soft limit: a program may raise it, as it may without the launcher
        resource.setrlimit(resource.RLIMIT_NOFILE, (options.open_files, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def _confine(options: Options, processor: str, abi: int, protected: "tuple[int, ...]") -> int:
    """Applies the restrictions that are only for the program: Landlock's rules, capabilities and the filter.

    Returns:
        The open file at which the kernel asks, if the network is "proxy"; else 0.
    """
    if abi:
        is_tcp_kept = abi >= PROXY_ABI and options.network != "all"
        landlock.restrict(abi, read=options.read, write=options.write, has_tcp_rules=is_tcp_kept, connect_port=options.proxy_port)
    capabilities.give_up()
    program = assemble(
        rules(
            processor,
            network=options.network,
            abi=abi,
            keeps_group=options.keeps_group,
            has_own_ids=options.has_own_ids,
            protected=protected,
        )
    )
    instructions = Memory(program)
    described = Memory((len(program) // 8).to_bytes(8, "little") + instructions.address.to_bytes(8, "little"))  # struct sock_fprog
    flags = _NEW_LISTENER if options.network == "proxy" else 0
    return call(number_of("seccomp"), _SET_FILTER, flags, described.address)


def _execute(options: Options) -> None:
    """Becomes the program.

    Raises:
        OSError: the program cannot be run.
    """
    posix.closerange(_FIRST_OTHER_FILE, _LAST_OTHER_FILE)
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ, _signal.SIGTERM):  # ignored by Python, and around bubblewrap
        _signal.signal(number, _signal.SIG_DFL)
    try:
        posix.execve(options.command[0], options.command, environment(posix.environ))
    except OSError as error:
        raise Wrong(f"{options.command[0]}: {error.strerror}") from None
