"""What `import biaswatch` offers in Python: results are objects with frames, sentences and HTML."""
