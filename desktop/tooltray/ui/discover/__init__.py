"""The Discover tab of the Servers page: servers to find and to add, from the registry, well-known ones, bundles, and links."""
