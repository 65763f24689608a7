"""Pure mathematics: values in, values out; no I/O, no clock, no luck of its own."""
