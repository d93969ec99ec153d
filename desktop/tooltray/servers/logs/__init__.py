"""The logs of servers: what each wrote and which states it passed, in files, and its protocol messages while they are recorded.

Begin with `log_keeper`, which writes; `log_reader` reads. `servers.transports.server_output` masks the secrets in each printed line before.
"""
