"""Projects: the folder of each session, the allowed folders, and the servers that start for a project."""
