"""Servers elsewhere: HTTP, its transports, its failures. Imported when the first such server is started or looked at."""
