"""The clock, the table service and the gateway as they are shipped, on virtual time, under seeded faults."""
