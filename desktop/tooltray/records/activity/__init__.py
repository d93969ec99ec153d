"""What happened: the structured log, and counts for the cards."""
