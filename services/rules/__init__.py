"""The rules service: editions, the pure core and its shell."""
