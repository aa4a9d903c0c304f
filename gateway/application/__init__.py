"""What the gateway does: who calls, what he may, and what is streamed to him."""
