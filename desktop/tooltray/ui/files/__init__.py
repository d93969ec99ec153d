"""The page of files with servers in them, its sheets, and the entries of such files that wait for the user's consent."""
