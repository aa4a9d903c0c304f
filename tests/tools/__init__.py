"""Tools that look at the tests and the ledgers, run by make."""
