"""Writers of findings: terminal, Markdown, HTML, figures."""
