"""Runs a program under ptrace and notes which files it opens and where it connects. Linux; standard library only.

Above it: the hub, which starts this package as a program of its own in the place of a server and reads the report. It knows nothing of
`tooltray`.
"""
