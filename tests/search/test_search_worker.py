"""What of Material's own files search touches."""

from __future__ import annotations

from pathlib import Path

import material
import pytest

from hooks.search.material import (
    BUNDLE_PATCHES,
    MATERIAL_VERSION,
    PatchError,
    Replacement,
    patch_bundle,
)

THEME = Path(str(material.__file__)).parent / "templates"
BUNDLE = next((THEME / "assets/javascripts").glob("bundle.*.min.js")).read_text(encoding="utf-8")


@pytest.mark.parametrize("patch", BUNDLE_PATCHES, ids=lambda patch: patch.purpose)
def test_patch_bundle_refuses_another_bundle(patch: Replacement) -> None:
    assert patch_bundle(BUNDLE) != BUNDLE
    with pytest.raises(PatchError, match=MATERIAL_VERSION):
        patch_bundle(BUNDLE.replace(patch.old, ""))
