"""What is to be done so that the platform is as the resources say; no I/O."""
