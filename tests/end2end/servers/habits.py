"""A stdio MCP server with the habits that a hub must survive. Standard library only.

Usage: habits.py [HABIT ...]
  exit:N          ends at once with this code
  garbage         prints lines that are no messages before and between its own
  silent          reads, and never answers
  stays           ignores the end of stdin and SIGTERM
  flood:BYTES     prints so many bytes without a newline before it answers the first list
  tools:N         lists N tools instead of its own
  odd             lists tools with odd names, duplicates, a deep schema and things that are no tools
  sick            lists tools that strict clients refuse whole lists for
  daemon          starts a child that leaves the process group and ignores SIGTERM; the tool `pids` tells its pid
Tools: echo(text), hang, pids, die, slow(ms), big(n): n bytes of text.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

HABITS = dict(habit.partition(":")[::2] for habit in sys.argv[1:])
DAEMON = "import os, signal, time; os.setsid(); signal.signal(15, signal.SIG_IGN); signal.signal(1, signal.SIG_IGN); time.sleep(600)"
children = []


def send(message):
    if "garbage" in HABITS:
        sys.stdout.write("INFO: this line is no message\n{\n\xff\n")
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name, **more):
    return {"name": name, "description": f"The tool {name}.", "inputSchema": {"type": "object", "properties": {}}, **more}


def deep(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


def tools():
    if "tools" in HABITS:
        return [tool(f"tool_{number:05d}") for number in range(int(HABITS["tools"]))]
    if "odd" in HABITS:
        names = ["gh.create_issue", "gh/create_issue", "名前", "", "x" * 200, "same", "same", "space in it"]
        return [*map(tool, names), tool("deep", inputSchema=deep(200)), {"description": "no name"}, "no object", tool(7)]
    if "sick" in HABITS:
        output = {"type": "object", "$ref": "#/nowhere"}
        untyped = {"name": "untyped", "inputSchema": {"properties": {"a": None}, "required": True}, "annotations": {"title": None}}
        return [untyped, {"description": "no name"}, tool("unresolved", outputSchema=output), tool("array", outputSchema={"type": "array"})]
    return [tool(name) for name in ("echo", "hang", "pids", "die", "slow", "big")]


def call(id, name, arguments):
    if name == "hang":
        return
    if name == "die":
        print("out of cheese", file=sys.stderr, flush=True)
        os._exit(7)
    if name == "slow":
        threading.Timer(arguments.get("ms", 0) / 1000, answer, (id, "slow")).start()
        return
    if name == "big":
        answer(id, "x" * arguments["n"])
        return
    answer(id, json.dumps([os.getpid(), *(child.pid for child in children)]) if name == "pids" else arguments.get("text", ""))


def answer(id, text):
    send({"id": id, "result": {"content": [{"type": "text", "text": text}]}})


def main():
    if "exit" in HABITS:
        print("cannot do anything today", file=sys.stderr)
        sys.exit(int(HABITS["exit"]))
    if "stays" in HABITS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "daemon" in HABITS:
        children.append(subprocess.Popen([sys.executable, "-c", DAEMON], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        if "silent" in HABITS:
            continue
        if method == "initialize":
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "habits", "version": "1"}}
            send({"id": message["id"], "result": {"protocolVersion": params["protocolVersion"], **about}})
        elif method == "tools/list":
            if "flood" in HABITS:
                for _ in range(int(HABITS.pop("flood")) // 2**20):
                    sys.stdout.write("x" * 2**20)
                sys.stdout.write("\n")
            send({"id": message["id"], "result": {"tools": tools()}})
        elif method == "tools/call":
            call(message["id"], params["name"], params.get("arguments", {}))
        elif "id" in message and method:
            send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
    while "stays" in HABITS:
        time.sleep(60)


main()
