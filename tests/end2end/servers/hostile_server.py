"""A server that tries what it must not: `hostile_server.py FACTS` serves MCP with the tool `try`; with `--all` it prints them all as JSON.

FACTS is a file with the names of what there is to take, see tests/fakes/hostile_facts.py. Each trial says "done", or "refused: ERRNO". They
do no harm where nothing refuses them: signals are such as nobody hears, limits are set to what they are.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from types import SimpleNamespace

with open(sys.argv[1]) as _facts:
    FACTS = SimpleNamespace(**json.load(_facts))
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
HARMLESS = signal.SIGURG  # ignored by whoever gets it
IS_X86 = os.uname().machine == "x86_64"
TRIALS = {}


def trial(function):
    """In this process."""
    TRIALS[function.__name__] = function
    return function


def trial_apart(function):
    """In a child: it changes what the others need, or may crash."""

    def run():
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, outcome(function).encode())
            os._exit(0)
        os.close(writing)
        with open(reading) as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        if said != "done":
            raise Refused(said.removeprefix("refused: ") or "crashed")

    TRIALS[function.__name__] = run
    return run


class Refused(Exception):
    pass


def outcome(function):
    try:
        function()
    except OSError as error:
        return f"refused: {errno.errorcode.get(error.errno, error)}"
    except Refused as error:
        return f"refused: {error}"
    return "done"


def system_call(x86_64, aarch64, *arguments):
    number = x86_64 if IS_X86 else aarch64
    result = LIBC.syscall(number, *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def own(name):
    return os.path.join(FACTS.own, name)


# files


@trial
def read_ssh_key():
    read(FACTS.key)


@trial
def read_cloud_credentials():
    read(FACTS.credentials)


@trial
def read_browser_profile():
    read(FACTS.browser)


@trial
def read_hub_settings():
    read(FACTS.settings)


@trial
def read_other_server():
    read(FACTS.other_server)


@trial
def read_passwords_of_system():
    read("/etc/shadow")


@trial
def list_home():
    os.listdir(FACTS.home)


@trial
def read_shared_memory():
    read(FACTS.shared_memory)


@trial
def read_terminal():
    os.close(os.open(FACTS.terminal, os.O_RDWR | os.O_NOCTTY))


@trial
def read_inherited_file():
    os.pread(FACTS.inherited, 1, 0)


@trial
def read_through_link():
    with contextlib.suppress(FileExistsError):
        os.symlink(FACTS.key, own("link"))
    read(own("link"))


@trial
def read_through_folder_link():
    with contextlib.suppress(FileExistsError):
        os.symlink(FACTS.home, own("home"))
    read(own("home") + "/.ssh/" + os.path.basename(FACTS.key))


@trial
def read_through_proc_root():
    read("/proc/self/root" + FACTS.key)


@trial_apart
def read_from_its_folder():
    os.chdir(os.path.dirname(FACTS.key))
    read(os.path.basename(FACTS.key))


@trial
def read_by_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    mount = ctypes.c_int()
    system_call(303, 264, -100, os.fsencode(FACTS.key), handle, ctypes.byref(mount), 0)
    folder = os.open(FACTS.own, os.O_RDONLY)
    try:
        os.close(system_call(304, 265, folder, handle, os.O_RDONLY))
    finally:
        os.close(folder)


@trial_apart
def read_by_program_in_memory():
    program = os.memfd_create("cat")
    with open("/bin/cat", "rb") as cat:
        os.write(program, cat.read())
    done = subprocess.run([f"/proc/self/fd/{program}", FACTS.key], pass_fds=[program], capture_output=True, check=False)
    if done.returncode:
        raise Refused(done.stderr.decode().rpartition(": ")[2].strip())


@trial
def hard_link_key():
    os.link(FACTS.key, own("hard"))


@trial
def move_in():
    os.rename(FACTS.movable, own("moved"))
    os.rename(own("moved"), FACTS.movable)


@trial
def move_out():
    open(own("evil.desktop"), "w").close()
    os.rename(own("evil.desktop"), os.path.join(FACTS.home, "evil.desktop"))


@trial
def write_outside():
    open(os.path.join(FACTS.home, "new"), "w").close()


@trial
def write_login_script():
    open(FACTS.login_script, "a").close()


@trial
def write_hub_settings():
    open(FACTS.settings, "a").close()


@trial
def replace_own_program():
    open(__file__, "a").close()


@trial
def replace_launcher():
    open(FACTS.launcher, "a").close()


@trial
def remove_foreign():
    os.unlink(FACTS.removable)


@trial
def truncate_foreign():
    os.truncate(FACTS.truncatable, 0)


@trial
def truncate_readable():
    os.truncate(FACTS.readable, 0)


@trial
def truncate_while_opening():
    os.close(os.open(FACTS.readable, os.O_RDONLY | os.O_TRUNC))


@trial
def truncate_without_access():
    os.close(os.open(FACTS.readable, 3 | os.O_TRUNC))


@trial
def change_foreign_mode():
    os.chmod(FACTS.changeable, 0o644)


@trial
def change_foreign_owner():
    os.chown(FACTS.changeable, 12345, -1)


@trial
def change_foreign_dates():
    os.utime(FACTS.changeable, (1, 1))


@trial
def make_device():
    os.mknod(own("null"), 0o020600, os.makedev(1, 3))


@trial
def make_program_of_its_owner():
    open(own("suid"), "w").close()
    os.chmod(own("suid"), 0o4755)


@trial
def create_program_of_its_owner():
    os.close(os.open(own("suid2"), os.O_CREAT | os.O_WRONLY, 0o4755))
    if not os.stat(own("suid2")).st_mode & 0o4000:
        raise Refused("no bit")


@trial
def fill_disk():
    with open(own("large"), "wb") as file:
        file.write(bytes(2 * FACTS.file_bytes))
    os.unlink(own("large"))


@trial_apart
def change_root():
    os.chroot(FACTS.own)


@trial
def set_core_pattern():
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))


# processes


@trial
def see_processes():
    read(f"/proc/{FACTS.hub}/cmdline")


@trial
def see_names():
    read(f"/proc/{FACTS.hub}/comm")


@trial
def see_descriptor_numbers():
    os.listdir(f"/proc/{FACTS.hub}/fd")


@trial
def see_what_a_descriptor_is():
    read(f"/proc/{FACTS.hub}/fdinfo/0")


@trial
def see_threads():
    read(f"/proc/{FACTS.hub}/task/{FACTS.hub}/stat")


@trial
def see_working_folder():
    os.readlink(f"/proc/{FACTS.hub}/cwd")


@trial
def see_program():
    os.readlink(f"/proc/{FACTS.hub}/exe")


@trial
def see_limits():
    resource.prlimit(FACTS.hub, resource.RLIMIT_NOFILE)


@trial
def read_hub_environment():
    read(f"/proc/{FACTS.hub}/environ")


@trial
def read_hub_memory():
    os.close(os.open(f"/proc/{FACTS.hub}/mem", os.O_RDONLY))


@trial
def see_hub_files():
    os.readlink(f"/proc/{FACTS.hub}/fd/0")


@trial
def read_through_hub_root():
    read(os.path.join("/proc", str(FACTS.hub), "root") + FACTS.key)


@trial_apart
def trace_hub():
    system_call(101, 117, 0x4206, FACTS.hub, 0, 0)  # PTRACE_SEIZE


@trial
def read_hub_by_vm():
    buffer = ctypes.create_string_buffer(8)
    here = struct.pack("QQ", ctypes.addressof(buffer), 8)
    system_call(310, 270, FACTS.hub, here, 1, struct.pack("QQ", FACTS.hub_address, 8), 1, 0)


@trial
def take_hub_file():
    pidfd = os.pidfd_open(FACTS.hub)
    try:
        os.close(system_call(438, 438, pidfd, 0, 0))
    finally:
        os.close(pidfd)


@trial
def signal_hub():
    os.kill(FACTS.hub, HARMLESS)


@trial
def signal_hub_group():
    os.kill(-FACTS.hub_group, HARMLESS)


@trial
def signal_hub_by_pidfd():
    pidfd = os.pidfd_open(FACTS.hub)
    try:
        signal.pidfd_send_signal(pidfd, HARMLESS)
    finally:
        os.close(pidfd)


@trial
def signal_hub_by_thread():
    os.kill(FACTS.hub_thread, HARMLESS)


@trial
def signal_other_program():
    os.kill(FACTS.other, HARMLESS)


@trial
def signal_by_file():
    reading, writing = socket.socketpair()
    with reading, writing:
        fcntl.fcntl(reading, fcntl.F_SETOWN, FACTS.hub)


@trial
def limit_hub():
    resource.prlimit(FACTS.hub, resource.RLIMIT_CPU, resource.prlimit(FACTS.hub, resource.RLIMIT_CPU))


@trial
def slow_hub_down():
    os.setpriority(os.PRIO_PROCESS, FACTS.hub, os.getpriority(os.PRIO_PROCESS, FACTS.hub))


@trial_apart
def survive():
    """A grandchild in a session of its own with an empty environment; it holds a lock as long as it lives, and has written its number."""
    held = os.open(own("survivor"), os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                os.setpgid(0, 0)
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            os.set_inheritable(held, True)
            os.write(held, str(os.getpid()).encode())
            os.execve("/bin/sleep", ["sleep", "300"], {})
        os._exit(0)
    os.wait()


# the kernel


@trial_apart
def new_user_namespace():
    if LIBC.unshare(0x10000000):
        raise OSError(ctypes.get_errno(), "")


@trial
def new_user_namespace_by_clone():
    child = system_call(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


@trial
def new_user_namespace_by_clone3():
    child = system_call(435, 435, struct.pack("8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


@trial_apart
def join_namespace():
    namespace = os.open("/proc/self/ns/uts", os.O_RDONLY)
    system_call(308, 268, namespace, 0)


@trial_apart
def mount():
    if LIBC.mount(b"none", os.fsencode(FACTS.own), b"tmpfs", 0, None):
        raise OSError(ctypes.get_errno(), "")
    LIBC.umount2(os.fsencode(FACTS.own), 2)


@trial
def new_file_system():
    os.close(system_call(430, 430, b"tmpfs", 0))


@trial
def use_io_uring():
    os.close(system_call(425, 425, 2, ctypes.create_string_buffer(120)))


@trial
def read_kernel_keys():
    system_call(250, 219, 0, -3, 1)  # KEYCTL_GET_KEYRING_ID of the session


@trial
def load_bpf():
    attributes = struct.pack("IIII", 2, 4, 4, 1) + bytes(104)  # an array of one number
    os.close(system_call(321, 280, 0, attributes, len(attributes)))


@trial
def handle_page_faults():
    os.close(system_call(323, 282, os.O_CLOEXEC | 1))


@trial
def measure_performance():
    attributes = struct.pack("IIQ", 1, 120, 0) + bytes(104)  # the clock of the processor, of this process
    os.close(system_call(298, 241, attributes, 0, -1, -1, 0))


@trial
def share_memory_by_number():
    address = system_call(30, 196, FACTS.segment, 0, 0o10000)
    system_call(67, 197, address)


@trial
def open_queue_by_name():
    os.close(system_call(240, 180, b"tooltray-hostile", os.O_CREAT | os.O_RDWR, 0o600, 0))
    system_call(241, 181, b"tooltray-hostile")


@trial_apart
def type_into_terminal():
    _, terminal = os.openpty()
    os.setsid()
    fcntl.ioctl(terminal, 0x540E, 0)  # TIOCSCTTY
    fcntl.ioctl(terminal, 0x5412, b"x")  # TIOCSTI


@trial_apart
def old_system_calls():
    """`socket(AF_UNIX)` by the numbers of 32-bit programs."""
    if not IS_X86:
        raise OSError(errno.ENOSYS, "")
    code = bytes.fromhex("53 b867010000 bb01000000 b901000000 31d2 cd80 5b c3".replace(" ", ""))
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    result = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    if result < 0:
        raise OSError(-result, "")
    os.close(result)


# sockets


def connect(family, kind, address, protocol=0):
    with socket.socket(family, kind, protocol) as wire:
        wire.settimeout(2)
        wire.connect(address)


@trial
def connect_by_tcp():
    connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", FACTS.tcp))


@trial
def connect_by_tcp6():
    connect(socket.AF_INET6, socket.SOCK_STREAM, ("::1", FACTS.tcp6))


@trial
def connect_by_multipath_tcp():
    connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", FACTS.tcp), 262)


@trial
def connect_by_sending():
    with socket.socket() as wire:
        wire.sendto(b"x", 0x20000000, ("127.0.0.1", FACTS.tcp))


@trial
def send_by_udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.sendto(b"x", ("127.0.0.1", FACTS.udp))


@trial
def ask_for_a_name():
    question = bytes.fromhex("abcd01000001000000000000") + b"\x06secret\x04evil\x04test\x00" + bytes.fromhex("00010001")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.connect(("127.0.0.1", FACTS.udp))
        wire.send(question)


@trial
def listen_by_tcp():
    with socket.socket() as wire:
        wire.bind(("127.0.0.1", 0))
        wire.listen()


@trial
def send_raw():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()


@trial
def read_packets():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()


@trial
def reach_hub_socket():
    connect(socket.AF_UNIX, socket.SOCK_STREAM, FACTS.hub_socket)


@trial
def reach_session_bus():
    connect(socket.AF_UNIX, socket.SOCK_STREAM, FACTS.session_bus)


@trial
def start_by_systemd():
    """What `systemd-run --user` does first."""
    connect(socket.AF_UNIX, socket.SOCK_STREAM, FACTS.systemd)


@trial
def reach_docker():
    connect(socket.AF_UNIX, socket.SOCK_STREAM, FACTS.docker)


@trial
def reach_abstract_socket():
    connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + FACTS.abstract)


@trial
def reach_path_by_pair():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        ours.sendto(b"x", FACTS.journal)


@trial
def reach_path_by_raw_pair():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
    with ours, theirs:
        ours.sendto(b"x", FACTS.journal)


@trial
def reach_virtual_machine_host():
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()


@trial
def use_kernel_crypto():
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).close()


@trial
def hear_devices():
    socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15).close()


def harmless():
    """What a server may do, confined or not."""
    with open(own("note"), "w") as note:
        note.write("own")
    read(FACTS.readable)
    one, other = socket.socketpair()
    one.close()
    other.close()
    socket.if_nameindex()
    subprocess.run(["/bin/true"], check=True, start_new_session=True)


def serve():
    tool = {"name": "try", "inputSchema": {"type": "object", "properties": {"trial": {"enum": sorted(TRIALS)}}, "required": ["trial"]}}
    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        if "id" not in message:
            continue
        method, params = message["method"], message.get("params", {})
        result = {}
        if method == "initialize":
            about = {"name": "hostile", "version": "1"}
            result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
        elif method == "tools/list":
            result = {"tools": [tool]}
        elif method == "tools/call":
            said = outcome(TRIALS[params["arguments"]["trial"]])
            result = {"content": [{"type": "text", "text": said}]}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if sys.argv[2:] == ["--all"]:
    print(json.dumps({"harmless": outcome(harmless), **{name: outcome(function) for name, function in TRIALS.items()}}))
else:
    serve()
