"""The log of a server or of the hub: followed, searched, filtered and saved. Begin with `log_view`."""
