"""How a server's program is started: environment variables, where commands are, npx and uvx, npm's own configuration."""
