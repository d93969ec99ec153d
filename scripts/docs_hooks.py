"""Hook of mkdocs: puts the pages that docs_reference.py has written beside those of docs/."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

GENERATED = Path(__file__).parents[1] / "build" / "reference"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for page in sorted(GENERATED.glob("*.md")):
        files.append(File.generated(config, f"reference/{page.name}", abs_src_path=str(page)))
    return files
