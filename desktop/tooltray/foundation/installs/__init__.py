"""The installations of Tooltray on this machine, and the one path that AI clients' configs contain. Begin with `installations`."""
