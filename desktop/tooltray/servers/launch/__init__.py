"""The preparation of a server's program: environment variables, the search for commands, npx and uvx, npm's own configuration.

Begin with `child_environment`, which makes a Launch; `servers.transports.stdio_transport` starts the process.
"""
