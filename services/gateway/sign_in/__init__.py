"""Sign-in with OpenID Connect."""
