"""Models on this machine: the only import of torch, transformers and sentence-transformers."""
