"""Runs a program under ptrace and records which files it opens and where it connects. Linux; only the standard library.

The hub starts this package as a program of its own in the place of a server and reads the report. Nothing of `tooltray` is imported.
"""
