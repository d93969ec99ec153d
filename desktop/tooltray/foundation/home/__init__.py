"""The folder that holds everything Tooltray stores: its paths, its lock, its sockets, and the user's identity on this system.

Begin with `home`; `hub_place` has the lock.
"""
