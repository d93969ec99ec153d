"""What servers are started with: the person's environment, and where their programs are."""
