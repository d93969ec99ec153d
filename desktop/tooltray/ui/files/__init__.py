"""The page of files with servers in them, its sheets, and what of such files waits for the user's consent."""
