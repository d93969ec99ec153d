"""Confinement of servers: `profiles` has their files, `host_proxies` checks their hosts, `confined_starts` puts launchers around them."""
