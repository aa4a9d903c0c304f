"""The rules of the tabletop ledger, statement by statement."""
