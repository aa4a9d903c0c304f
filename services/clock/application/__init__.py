"""What the clock does: probes, tells play time, arms deadlines, and fires them."""
