"""Evidence that may be looked at after every unit: states that add up, and what they allow to say."""
