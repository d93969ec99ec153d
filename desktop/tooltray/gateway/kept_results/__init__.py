"""Results that are too large for a client: cut, saved on the disk for a day, and read page by page."""
