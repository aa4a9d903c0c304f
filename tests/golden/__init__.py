"""Finished games of every edition, kept as files: every later build decides them anew, event for event."""
