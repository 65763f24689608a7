"""Evidence that may be looked at after every unit, and what it allows to say."""
