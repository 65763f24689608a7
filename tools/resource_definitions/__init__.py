"""The definitions of the custom resources, by kind."""
