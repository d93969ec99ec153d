"""How a server is reached: stdio, streamable HTTP, HTTP+SSE, in memory. Knows nothing of the store of settings or of AI clients.

Begin with `transport_table`, the table of server types; `stdio_transport` starts and ends processes.
"""
