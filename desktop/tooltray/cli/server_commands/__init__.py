"""The commands about servers: `tooltray servers`, and the ways to find and install them. Begin with `servers_group`."""
