"""What no author should keep by hand, and what must not mislead a reader.

Pure functions over notes and built pages, one module a concern. `adapter` is the only module
that knows MkDocs; `python -m hooks` (`cli`) runs the same functions without a build. Where to look:

- Reading a note: `catalogue` (all of them), `front_matter`, `records` (what comes out), `source`
  (headings, links, fences with their places) and, below it, the Markdown of the site and of
  GitHub: `dialects`, `blocks`, `lines`, `lists`, `tables`, `fences`, `containers`, `definitions`,
  `raw_html`, `nodes`, `commonmark`, `inline`, `destinations`, `tags`, `plain`; ids by `slugs` and
  `heading_ids`.
- Checking: `checks` (everything, in one call), `rules` (what each finding means), `source_check`
  with the package `links`, `targets`, `content_safety`, `pairing`, `navigation`, `addresses`,
  `site_check` (built pages), `diagrams` with `mermaid_engine`, `figures` with `svg`; said by
  `findings` and `report`.
- Data: `facts`, `facts_table`, `measured`, `measured_table`, `data_blocks`, `quantities`,
  `yaml_places`.
- What pages get besides their text: `page_parts`, `contents`, `topic_map`, `backlinks`, `history`.
- Search, in the browser and in a terminal: the package `search`; its fallback to Material's own
  engine is `search_worker` with `search_prelude.js`.
- Building and starting: `publish`, `scaffold`.
- Other people's sites, never part of a build: the package `external`.
"""
