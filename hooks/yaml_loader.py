"""The YAML loader of every module: libyaml's scanner, which is ten times as fast as Python's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

if TYPE_CHECKING:
    Fast = yaml.SafeLoader
elif yaml.__with_libyaml__:
    from yaml.cyaml import CParser

    class Fast(Composer, CParser, SafeConstructor, Resolver):
        """Scans in C and composes in Python: libyaml's own composer overflows C's stack.

        Ten thousand brackets end the process there, and are a RecursionError here.
        """

        def __init__(self, stream: str) -> None:
            """Open a text."""
            CParser.__init__(self, stream)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)

else:
    Fast = yaml.SafeLoader


def read(text: str, loader: type[Fast] = Fast) -> tuple[yaml.Node | None, Any]:
    """Parse a text once; return its nodes, which tell the places, and its data.

    Raises:
        yaml.YAMLError: The text is not YAML, or holds tags that the loader does not know.
        RecursionError: It nests more deeply than anyone writes.
    """
    node = yaml.compose(text, Loader=loader)
    if node is None:
        return None, None
    # Merging keys (`<<`) changes the nodes: their places would be those of what is merged.
    again = yaml.compose(text, Loader=loader) if "<<" in text else node
    return node, loader("").construct_document(again)
