"""The programs: the desktop, the engine, and the hub that is composed of everything below. Begin with `hub`."""
