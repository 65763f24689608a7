"""The builder keeps the replies of models to the questions of builds.

Reads responses to the questions of `biaswatch build`; writes them into the store, where the build
finds them.
"""
