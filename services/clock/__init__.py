"""Play time and running deadlines: the only one that says that time is up."""
