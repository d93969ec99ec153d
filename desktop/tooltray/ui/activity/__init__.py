"""The Activity page: which calls were made, by whom, how they went, and where their time went. Begin with `activity_page`."""
