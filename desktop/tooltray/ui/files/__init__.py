"""The page of files with servers in them, its sheets, and what of such files waits for a person's consent."""
