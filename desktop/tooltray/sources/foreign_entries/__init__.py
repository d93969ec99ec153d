"""Reads entries of other programs as entries of Tooltray, including their placeholders and the proxies in them.

Begin with `entry_reading`.
"""
