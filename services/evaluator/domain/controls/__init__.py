"""Controls of judges: texts with known grades, and the examination of judges."""
