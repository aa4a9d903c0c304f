"""Adapters of the rules service: files, network, caches."""
