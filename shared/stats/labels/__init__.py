"""What people's labels say of an instrument, and of the findings that were made with it."""
