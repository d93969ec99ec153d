"""Skills of all servers: joined, checked against their digests, and blocked until reviewed when they have changed.

Begin with `skill_catalogue`.
"""
