"""Runs a program under ptrace and records which files it opens and where it connects. Linux; only the standard library.

The hub starts this package as a program in place of a server, and reads its report. The package imports nothing of `tooltray`.
"""
