"""The thinking of the builder: values in, values out."""
