"""The first hour of a newcomer, walked by a script: the tutorial, and the ways to first results."""
