"""Servers started without npx and uvx where that is safe."""
