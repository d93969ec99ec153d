"""Who asks: what is kept of each AI client's session, and what may be asked of it while a call runs."""
