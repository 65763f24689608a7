"""Models on this machine: the one door to torch, transformers and sentence-transformers."""
