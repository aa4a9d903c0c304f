"""Edition files in a folder of a test: the flagship with some values replaced, and copies of the real ones."""

import re
import shutil
from pathlib import Path

from services.rules.editions.loader import EDITIONS


def flagship(**changes: str) -> str:
    """The text of `industry.toml` with the right side of some keys replaced."""
    text = (EDITIONS / "industry.toml").read_text(encoding="utf-8")
    for key, value in changes.items():
        text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}".replace("\\", r"\\"), text, count=1)
        assert count == 1, key
    return text


def write(folder: Path, *, name: str = "industry.toml", text: str | None = None) -> Path:
    """Write an edition file, by default the flagship, beside a copy of all boards."""
    if not (folder / "boards").exists():
        shutil.copytree(EDITIONS / "boards", folder / "boards")
    path = folder / name
    path.write_text(flagship() if text is None else text, encoding="utf-8")
    return path


def copy(folder: Path, *names: str) -> None:
    """Copy edition files that come with the program, with all boards."""
    for name in names:
        write(folder, name=name, text=(EDITIONS / name).read_text(encoding="utf-8"))
