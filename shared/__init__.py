"""What every service stands on; the parts are imported by name, so this file imports nothing."""
