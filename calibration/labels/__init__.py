"""How often findings that labels correct err, and what they find: thousands of studies."""
