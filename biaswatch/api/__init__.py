"""The Python API of `import biaswatch`: results with frames, sentences and HTML."""
