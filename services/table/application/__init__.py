"""The use cases of the table service, one a module, over the small interfaces of `ports`."""
