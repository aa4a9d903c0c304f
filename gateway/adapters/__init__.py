"""The gateway's edges: the browser port and the connections to the other services."""
