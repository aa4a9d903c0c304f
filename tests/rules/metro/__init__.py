"""The rules of `metro` and `metro-speed`, statement by statement (docs/rules/metro.md)."""
