"""The services of Magnate."""
