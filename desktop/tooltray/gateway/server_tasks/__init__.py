"""Tasks of servers: which client owns each task, the task's id for that client, and the routing of `tasks/*` requests.

Begin with `server_tasks`.
"""
