"""What a table is and what may happen to it outside its game. Pure: no clock, no random source, no input or output."""
