"""The REST interface: the API of a hub over HTTP, for other programs.

Begin with `operations`, the list. `operation.derived` makes the path of each verb; `server_operations` has those written by hand.
"""
