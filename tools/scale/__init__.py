"""What production traffic of any size needs: a model fed by measured costs, and its simulation.

`python -m tools.scale` writes the tables of docs/scale.md from it.
"""
