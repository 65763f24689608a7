"""Models behind one port; the generator asks them, and the command line reads their files."""
