"""How often planted judges are set aside, and how often corrected rates are covered."""
