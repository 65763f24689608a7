"""One file per revision; a released one is never changed."""
