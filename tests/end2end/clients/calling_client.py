"""A client that is in the middle of a long call until somebody kills it. Says "calling" when the server is at work.

Usage: calling_client.py COMMAND [ARG ...]
"""

import json
import subprocess
import sys

bridge = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(**message):
    bridge.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    bridge.stdin.flush()


client = {"name": "calling", "version": "1"}
send(id=1, method="initialize", params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
bridge.stdout.readline()
send(method="notifications/initialized")
call = {"name": "trigger-long-running-operation", "arguments": {"duration": 60, "steps": 600}, "_meta": {"progressToken": "t"}}
send(id=2, method="tools/call", params=call)
for line in bridge.stdout:
    if json.loads(line).get("method") == "notifications/progress":
        print("calling", flush=True)
        break
bridge.wait()
