"""The sheet of a sign-in for which no browser could be opened."""
