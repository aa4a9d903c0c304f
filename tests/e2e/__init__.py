"""The whole site as its users meet it."""
