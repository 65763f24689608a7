"""Write the sources of the site for Sphinx: `python -m tools.site FOLDER`."""

import shutil
import sys
from pathlib import Path

from tools.site.pages import ABOUT, contents, llms_index, written_pages
from tools.site.reference import reference_pages

ROOT = Path(__file__).parents[2]
FILES = (
    *("images", "asyncapi.json", "dataset.schema.json", "monitor.schema.json"),
    *("plan.schema.json", "suite.schema.json"),
)
"""Files that pages link to."""
INTRODUCTION = f"{ABOUT} Begin with the [tutorial](tutorial.md): ten minutes, no key, no network."


def write_sources(folder: Path) -> None:
    """Write every page of the site, and the settings of Sphinx."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = written_pages(ROOT / "docs") | reference_pages()
    for name, text in {**pages, "index.md": contents("biaswatch", INTRODUCTION)}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in FILES:
        source = ROOT / "docs" / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copyfile(source, folder / name)
    (folder / "llms.txt").write_text(llms_index(ROOT / "docs"), encoding="utf-8")
    shutil.copyfile(Path(__file__).parent / "sphinx_settings.py", folder / "conf.py")


if __name__ == "__main__":
    write_sources(Path(sys.argv[1]))
