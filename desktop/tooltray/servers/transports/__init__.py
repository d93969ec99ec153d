"""How a server is reached: stdio, streamable HTTP, HTTP+SSE, in memory. Knows nothing of settings' store or of AI clients."""
