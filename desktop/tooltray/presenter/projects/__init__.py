"""Which project each session works on, and which folders may be one."""
