"""Entries of other programs read as entries of Tooltray: their placeholders, the proxies in them, which two are the same server."""
