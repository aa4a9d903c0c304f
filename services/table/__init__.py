"""The table service: tables, seats, lobby, sessions and the command log; the only writer of a game."""
