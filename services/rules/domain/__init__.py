"""The pure core of the rules: no I/O, no clock, no randomness of its own."""
