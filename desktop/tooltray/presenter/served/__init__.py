"""What a config that the hub was started with asks of the hub itself: which servers it cannot do without, whose calls it logs."""
