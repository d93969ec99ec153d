"""AI clients on this computer: which are installed, which servers their files have, and whether they use Tooltray. Connects them, and
imports their servers.
"""
