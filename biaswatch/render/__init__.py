"""What runs, tables and monitors show, as people and programs read it."""
