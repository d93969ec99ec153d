"""Results that are too large for a client: cut, kept on the disk for a day, and read page by page."""
