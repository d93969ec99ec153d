"""Skills of all servers: joined, checked against their digests, and held when they have changed."""
