"""The programs of the field kit as single files, and an archive of them all."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path

_IMPORT = re.compile(r"^from common import (?:\([^)]*\)|[^\n]*)\n", re.MULTILINE)
_PACKED = (".py", ".txt", ".sh", ".sbatch", ".yaml")


def files(docs: Path, table: Mapping[str, object], site_url: str) -> dict[str, str | bytes]:
    """Return the programs, and the archive of them all, by paths in the site; none without them.

    The common part and the table of references are put into each program.
    """
    if not table:
        return {}
    folder, out, given = docs / "kit/code", io.BytesIO(), {"site": site_url, **table}
    paths = [one for one in folder.rglob("*.*") if one.suffix in _PACKED]
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}
    common = texts.pop("common.py").partition("import annotations\n")[2].strip() + "\n\n\n"
    common = common.replace("REFERENCE: dict = {}", f"REFERENCE: dict = {given!r}  # noqa: E501")
    made = {name: _IMPORT.sub(lambda _: common, text, count=1) for name, text in texts.items()}
    licence = (docs.parent / "LICENSES/Apache-2.0.txt").read_text(encoding="utf-8")
    packed = {**made, "reference.json": json.dumps(given, indent=1) + "\n", "LICENSE": licence}
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, text in sorted(packed.items()):
            entry = tarfile.TarInfo(f"handbook-kit/{name}")
            entry.size, entry.mode = len(text.encode()), 0o755 if name.endswith(".py") else 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    single = {f"kit/{name}": text for name, text in made.items() if name.endswith(".py")}
    return {**single, "kit/handbook-kit.tar.gz": gzip.compress(out.getvalue(), mtime=0)}
