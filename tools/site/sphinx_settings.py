"""The settings of Sphinx, copied beside the sources as its `conf.py`."""

project = "biaswatch"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "biaswatch"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_extra_path = [
    "asyncapi.json", "dataset.schema.json", "llms.txt", "monitor.schema.json", "plan.schema.json",
    "suite.schema.json",
]  # fmt: skip
myst_heading_anchors = 4
myst_fence_as_directive: list[str] = []
suppress_warnings = ["misc.highlighting_failure"]
"""Blocks that show both a command and its output are in no language."""
