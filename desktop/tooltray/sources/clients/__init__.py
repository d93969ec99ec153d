"""AI clients on this computer: which are installed, which servers their files have, and whether they use Tooltray. Connects them, and
imports their servers.

Begin with `client_look`. `resources/ai-clients.json` has a line for each known client, and `client_kinds` documents it.
"""
