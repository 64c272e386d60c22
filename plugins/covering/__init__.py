"""The engine ``covering``: cover all deliveries by the fewest compatibility classes."""
