"""The stdio bridge: a small program that an AI client starts, and that carries bytes between the client and the hub.

A package of its own: it imports nothing of tooltray, and on its hot path almost nothing at all, because every AI client starts one, often
several. What it must agree on with the hub (paths, the first line) is written a second time here and compared by
tests/contract/test_bridge_and_hub_agree.py. Modules that end in `_posix` are for Linux and macOS, in `_windows` for Windows.

| module | what |
|---|---|
| `__main__` | the script that AI clients start |
| `hot` | options, the first line, from start to end |
| `relay_*` | connecting to the hub, carrying bytes |
| `paths_*`, `long_home` | where the hub's socket or pipe is |
| `pipe_owner_windows` | whether the hub at a pipe is this user's |
| `tracker` | requests that wait for an answer, and messages that a new hub must be sent |
| `lines` | the id and the method of a line |
| `first_answers` | the answers that the last hub has left, for a client that comes before the next one |
| `cold` | no hub, or no longer one: starting it, coming back, reporting why not; usage |
| `start`, `start_*` | starts a hub, once, for any number of bridges |
| `scan` | reads a line whose id is at neither end, and batches |
"""
