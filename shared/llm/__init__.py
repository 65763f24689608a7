"""Model providers behind one port; the generator alone uses it."""
