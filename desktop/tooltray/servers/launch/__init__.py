"""The preparation of a server's program: environment variables, the search for commands, npx and uvx, npm's own configuration.

Begin with `child_environment`, which makes a Launch from an entry whose secrets `config.settings.expansion` has filled in;
`servers.transports.stdio_transport` starts the process.
"""
