"""A client of the gateway for the terminal: journal, board, choices, auto-move, three languages."""
