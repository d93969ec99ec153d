"""A process with the habits that a hub must survive; the first argument says which. Run by tests as a child; imports nothing of Tooltray.

Each writes a notification `ready` with what a test wants to know as soon as it is as odd as it can be.
"""

import json
import os
import signal
import subprocess
import sys
from typing import Any


def say(method: str, **params: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n")
    sys.stdout.flush()


def read_to_the_end() -> None:
    while os.read(0, 65536):
        pass


def wait_for_ever() -> None:
    while True:
        signal.pause()


def child(habit: str, **options: Any) -> int:
    """Starts another one of these, and returns its pid when it is ready."""
    process = subprocess.Popen([sys.executable, "-I", "-S", __file__, habit], stdin=subprocess.DEVNULL, **options)
    return process.pid


def echo() -> None:
    """Answers each request with its parameters; leaves at the end of stdin."""
    say("ready", env=dict(os.environ), cwd=os.getcwd(), session=os.getsid(0), group=os.getpgid(0), argv=sys.argv[2:])
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": message.get("params", {})}
            sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
            sys.stdout.buffer.flush()


def stubborn() -> None:
    """Ignores the end of stdin, SIGTERM and SIGHUP."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    say("ready")
    wait_for_ever()


def polite() -> None:
    """Ignores the end of stdin and leaves on SIGTERM."""
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(7))
    say("ready")
    wait_for_ever()


def dies() -> None:
    sys.stderr.write("loading\nout of cheese\n")
    sys.exit(3)


def dies_in_silence() -> None:
    pass


def dies_in_mid_word() -> None:
    sys.stderr.write("first line\nno newline behind this")
    sys.exit(1)


def dies_in_a_call() -> None:
    say("ready")
    os.read(0, 65536)
    sys.stdout.write('{"jsonrpc":"2.0","id":1,"result":{"half')
    sys.stdout.flush()
    dies()


def kills_itself() -> None:
    sys.stderr.write("about to crash\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def noisy() -> None:
    sys.stdout.buffer.write(b"Server listening on stdio\n\xff\xfe\n[1, 2]\n" * 5)
    sys.stdout.flush()
    echo()


def hasty() -> None:
    """Prints a line and asks before it is asked; says when the answer came."""
    sys.stdout.write("hasty\n" + json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n")
    sys.stdout.flush()
    sys.stdin.buffer.readline()
    say("answered")
    read_to_the_end()


def mute() -> None:
    """Closes its stdout and stays."""
    os.close(1)
    read_to_the_end()


def deaf() -> None:
    """Never reads."""
    say("ready")
    wait_for_ever()


def leaves_a_child() -> None:
    """Ends, and leaves a child of its group that holds stdout open and has forgotten whose it is."""
    say("child", pid=child("holds", env={}))
    sys.stdin.readline()
    sys.exit(4)


def holds() -> None:
    wait_for_ever()


def has_a_daemon() -> None:
    """Starts a process in another session that ignores SIGTERM."""
    reader, writer = os.pipe()
    pid = child("daemon", stdout=writer, stderr=subprocess.DEVNULL, start_new_session=True)
    os.close(writer)
    os.read(reader, 1)
    say("child", pid=pid)
    read_to_the_end()


def daemon() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(1, b"r")
    os.close(1)
    wait_for_ever()


def talkative() -> None:
    """Writes much to stderr: many lines, a very long one, one that is no UTF-8, an unfinished one."""
    for number in range(3000):
        sys.stderr.write(f"line {number}\n")
    sys.stderr.write("x" * 100_000 + "\n")
    sys.stderr.flush()
    sys.stderr.buffer.write(b"caf\xe9 key=hunter2\r\n\n   \nlast")
    sys.stderr.flush()
    say("ready")
    read_to_the_end()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
