"""What a build gives MkDocs in place of objects of its own: each looks for a result, then asks."""

from __future__ import annotations

import logging
import re
import zlib
from typing import TYPE_CHECKING, Any, Final

import jinja2
from mkdocs.structure.pages import Page

from hooks.site import inputs, store

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2.bccache import Bucket
    from mkdocs.config.defaults import MkDocsConfig


_SCRIPTED: Final = "mermaid2"
"""The plugin that reads a whole finished page to put a script at its end."""
_SEARCH_MARK: Final = re.compile(r"data-search-\w+=\"[^\"]+\"")
"""What the step takes out, with a blank before it that may be missing: slow to look for."""


class Folded(Page):
    """A page whose HTML is packed until somebody asks: MkDocs holds a whole language at once."""

    @property
    def content(self) -> str:
        """The HTML."""
        packed: bytes = vars(self)["content"]
        return zlib.decompress(packed).decode("utf-8", "surrogatepass")

    @content.setter
    def content(self, value: str | None) -> None:
        vars(self)["content"] = zlib.compress((value or "").encode("utf-8", "surrogatepass"), 1)


def fold(page: Page) -> None:
    """Pack the HTML of a page that is complete, and forget its Markdown."""
    content = page.content
    page.__class__ = Folded
    page.content = content
    page.markdown = ""  # its title is there only while this is a text


class Counter(logging.Handler):
    """Counts messages: what says something is rendered anew each time, so that it says it."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__(logging.INFO)
        self.count = 0
        self.warnings = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count a message."""
        self.count += 1
        self.warnings += record.levelno >= logging.WARNING

    def silence(self) -> None:
        """Let this process, a worker, say nothing: what it meets is met again by the build."""
        logger = logging.getLogger("mkdocs")
        logger.handlers = [self]
        logger.propagate = False


class Environment:
    """Jinja's environment as MkDocs uses it, with templates that look before they render."""

    def __init__(
        self, env: jinja2.Environment, framed: Callable[[jinja2.Template, Any], str]
    ) -> None:
        """Take the environment, and what renders a template with a context."""
        self._env = env
        self._framed = framed

    def get_template(self, name: str, *arguments: Any) -> Template:
        """Return a template by its name."""
        return Template(self._env.get_template(name, *arguments), self._framed)

    def __getattr__(self, name: str) -> Any:
        """Return what else an environment has."""
        return getattr(self._env, name)


class Template:
    """A template that looks before it renders."""

    def __init__(
        self, template: jinja2.Template, framed: Callable[[jinja2.Template, Any], str]
    ) -> None:
        """Take the template, and what renders it with a context."""
        self._template = template
        self._framed = framed

    def render(self, context: Any) -> str:
        """Return the page."""
        return self._framed(self._template, context)

    def __getattr__(self, name: str) -> Any:
        """Return what else a template has."""
        return getattr(self._template, name)


class Compiled(jinja2.BytecodeCache):
    """Templates as Python code: compiled once for both languages, every process and later builds"""

    def __init__(self, kept: store.Store, seed: str) -> None:
        """Take where they are kept, and a hash of the code and of what is installed."""
        self._store, self._seed = kept, seed

    def _key(self, bucket: Bucket) -> str:
        return inputs.digest("compiled", self._seed, bucket.key, bucket.checksum)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Let Jinja have the code of a template, if it is known."""
        found = self._store.get(self._key(bucket))
        if isinstance(found, bytes):
            bucket.bytecode_from_string(found)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        self._store.put(self._key(bucket), bucket.bytecode_to_string())


class Scripted:
    """The step in which mermaid2 puts its script into a page, by what came of it before."""

    def __init__(self, step: Callable[..., str], plugin: Any, kept: store.Store, seed: str) -> None:
        """Take the plugin and its step, and a hash of the code."""
        self._step, self._plugin, self._store, self._seed = step, plugin, kept, seed

    def __call__(self, text: str, *, page: Page, config: MkDocsConfig, **named: Any) -> str:
        """Return the page with its script."""
        if "mermaid" not in text:  # as the plugin itself
            return text
        settings = dict(self._plugin.config.items())
        key = inputs.digest("scripted", self._seed, settings, page.url, text)
        found = self._store.get(key)
        if not isinstance(found, str):
            found = self._step(text, page=page, config=config, **named)
            self._store.put(key, found)
        return found


class Searched:
    """The step in which Material's search takes its own marks out of a page; few have any."""

    def __init__(self, step: Callable[..., Any]) -> None:
        """Take the step."""
        self._step = step

    def __call__(self, context: Any, *, page: Page, **named: Any) -> Any:
        """Do it, where the page has marks or is to be in the index of Material's own engine."""
        is_left_out = (page.meta.get("search") or {}).get("exclude")
        if is_left_out and not _SEARCH_MARK.search(page.content or ""):
            return None
        return self._step(context, page=page, **named)


def watch_search(config: MkDocsConfig) -> None:
    """Spare pages a step of Material's search that changes nothing in them."""
    plugin = config.plugins.get("search") or config.plugins.get("material/search")
    steps: list[Any] = config.plugins.events["page_context"]
    for at, step in enumerate(steps):
        if plugin is not None and getattr(step, "__self__", None) is plugin:
            steps[at] = Searched(step)


def watch_scripts(config: MkDocsConfig, kept: store.Store, seed: str) -> None:
    """Let mermaid2 find the pages that it has read before."""
    plugin = config.plugins.get(_SCRIPTED)
    steps: list[Any] = config.plugins.events["post_page"]
    for at, step in enumerate(steps):
        if plugin is not None and getattr(step, "__self__", None) is plugin:
            steps[at] = Scripted(step, plugin, kept, seed)
