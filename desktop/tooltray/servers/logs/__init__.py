"""The logs of servers: each server's output and states, in files, and its protocol messages while they are recorded.

Begin with `log_keeper`, which writes; `log_reader` reads. Secrets are masked before, in `servers.transports.server_output`.
"""
