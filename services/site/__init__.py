"""The program `magnate`: its commands, and the composition of all services in one process."""
