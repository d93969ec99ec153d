"""Confinement of servers, which then may do less than their user: profiles, launchers around their processes, and a record of refusals."""
