"""The page Clients: one list of them, the details of one, profiles, and importing servers. Begin with `clients_page`."""
