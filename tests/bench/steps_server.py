"""A stdio MCP server for the measurement of chains, in the standard library only: issues of a tracker, and a database.

Its results have the sizes and forms of servers in use: an issue has a body, and rows come as JSON text.
"""

import json
import sqlite3
import sys

WORDS = "The window does not answer for some seconds after a click, and the log has a line about a lock that was not free. " * 5
KINDS = ("crash at start", "wrong colour", "slow list", "crash on save", "typo")
ISSUES = [
    {"number": n, "title": f"{KINDS[n % 5]} in part {n}", "state": "open", "user": f"user{n % 7}", "body": WORDS} for n in range(1, 31)
]
DATABASE = sqlite3.connect(":memory:")
DATABASE.row_factory = sqlite3.Row


def tool(name, description, **properties):
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": list(properties)},
    }


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
TOOLS = [
    tool("list_issues", "Lists issues with their bodies.", state=TEXT),
    tool("add_label", "Adds a label to an issue.", number=NUMBER, label=TEXT),
    tool("send_message", "Sends a message to a channel.", channel=TEXT, text=TEXT),
    tool("read_query", "Runs a SELECT and returns its rows.", query=TEXT),
    tool("write_query", "Runs an INSERT, UPDATE or DELETE.", query=TEXT),
]


def call(name, arguments):
    match name:
        case "list_issues":
            return {"issues": ISSUES}
        case "add_label":
            issue = next(each for each in ISSUES if each["number"] == arguments["number"])
            return {**issue, "labels": [arguments["label"]]}
        case "send_message":
            return {"ok": True, "ts": "1764471600.0001"}
        case "read_query":
            return [dict(row) for row in DATABASE.execute(arguments["query"])]
    return {"affected_rows": DATABASE.execute(arguments["query"]).rowcount}


def result_of(method, params):
    match method:
        case "initialize":
            info = {"name": "work", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            found = call(params["name"], params.get("arguments") or {})
            return {"content": [{"type": "text", "text": json.dumps(found)}]}
    return {}


def main():
    DATABASE.execute("create table customers (id integer, name text, mail text, city text, notes text)")
    rows = [(n, f"Customer {n}", f"c{n}@example.org", ("Taipei", "Berlin", "Lima")[n % 3], WORDS[:120]) for n in range(60)]
    DATABASE.executemany("insert into customers values (?, ?, ?, ?, ?)", rows)
    DATABASE.execute("create table visits (customer integer)")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": result_of(message["method"], message.get("params"))}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
