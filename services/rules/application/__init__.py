"""What the rules service does with the core: it knows no protobuf and no network."""
