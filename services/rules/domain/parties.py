"""Who money and deeds belong to: a seat from 0, or one of these."""

BANK = -1
JACKPOT = -2
#: no seat, no cell
NONE = -1
