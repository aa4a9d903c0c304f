"""The rules of the four `brands` editions and of custom tables, statement by statement (docs/rules/brands.md)."""
