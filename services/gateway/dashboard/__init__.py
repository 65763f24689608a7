"""The dashboard: pages about monitors and runs, for people with a browser."""
