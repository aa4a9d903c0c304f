"""What play time and deadlines are. Pure: the present moment is always an argument."""
