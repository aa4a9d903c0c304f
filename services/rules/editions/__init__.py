"""The editions as data files, and what reads and checks them."""
