"""How fast the site is built, beside MkDocs with Material alone and beside Zensical."""

from bench.build.run import main

__all__ = ["main"]
