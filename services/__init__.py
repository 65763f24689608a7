"""The services, one folder each; a service never imports another."""
