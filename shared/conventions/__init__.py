"""How teams record what their models said: each convention in a module, all read as one thing."""
