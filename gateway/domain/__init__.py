"""Pure parts of the gateway: numbers and words in, decisions out."""
