"""How many planted errors the checker of reports catches, and how many true sentences it flags."""
