"""The way of a request to one server and of its reply back, with a time limit: sent again if needed, a server's questions meanwhile.

Begin with `relay`.
"""
