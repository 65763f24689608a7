"""The documentation as a site: the pages of `docs`, and a reference written from the code."""
