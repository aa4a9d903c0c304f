"""The built browser client, read once: what is not in the folder at the start does not exist."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass
from pathlib import Path

_MAX_FILE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file's bytes and its kind. `lasting`: its name changes with its content."""

    body: bytes
    content_type: str
    lasting: bool


def read_web_files(folder: Path) -> dict[str, WebFile]:
    """The files of a folder by the path under which they are served; `/` is its index.html. Empty without a folder."""
    if not folder.is_dir():
        return {}
    files: dict[str, WebFile] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _MAX_FILE_BYTES:
            continue
        name = "/" + file.relative_to(folder).as_posix()
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if kind.startswith("text/"):
            kind += "; charset=utf-8"
        files[name] = WebFile(file.read_bytes(), kind, name.startswith("/assets/"))
    if "/index.html" in files:
        files["/"] = files["/index.html"]
    return files
