"""A model server with bias planted on purpose.

Reads HTTP requests in the wire formats of model providers; answers as a model whose bias is known;
writes nothing to the bus.
"""
