"""Projects: on which folder each session works, which folders are allowed, and the servers that start for one."""
