"""AI clients on this computer: which are installed, which servers their files have, and whether they use Tooltray. Connects them, and
imports their servers.

`resources/ai-clients.json` has a line for each known client; begin with `client_kinds`, which documents and reads it. `client_look`
describes what there is on this computer, `bridge_entries` makes what is written into a client's file.
"""
