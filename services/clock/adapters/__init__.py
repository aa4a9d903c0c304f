"""How the clock reaches the world: its store, its handler, its clients."""
