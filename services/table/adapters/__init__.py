"""The table service's ways to the outside: store, event stream, rules, clock, and the handler of its contract."""
