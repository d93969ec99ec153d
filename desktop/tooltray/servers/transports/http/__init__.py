"""Servers reached over HTTP: transports, connections, failures. Imported when the first such server is started.

Begin with `http_transport`.
"""
