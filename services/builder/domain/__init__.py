"""What the builder decides: values in, values out."""
