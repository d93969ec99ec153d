"""Whether a tool call goes through, who is asked, and what lasts of the answers."""
