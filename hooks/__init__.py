"""What no author should keep by hand, and what must not mislead a reader.

Pure functions over notes and built pages, one module a concern. `adapter` is the only module
that knows MkDocs; `python -m hooks` (`cli`) runs the same functions without a build. Where to look:

- Reading a note: `catalogue` (all of them), `front_matter`, `records` (what comes out), `source`
  (headings, links, fences with their places), `halves` (front matter, body) and, below it, the
  Markdown of the site and of GitHub: `dialects`, `blocks`, `lines`, `lists`, `tables`, `fences`,
  `containers`, `definitions`, `raw_html`, `nodes`; `site_inline` with `opaque`, `inline_html`,
  `attribute_lists` and `emphasis`; `commonmark` with `inline`; `destinations`, `tags`, `entities`,
  `plain`; ids by `slugs` and `heading_ids`.
- Checking: `checks` (everything, in one call), `rules` with `rules.yml`
  (what each finding means), `source_check` with the package `links`, `targets`, `content_safety`,
  `pairing`, `navigation`, `addresses`, `site_check` (built pages), `diagrams` with
  `mermaid_engine`, `figures` with `svg`; said by `findings` and `report`; remembered from run to
  run by `memory` with `packed`.
- Data: `facts` with `fact_checks` (equations between columns) and `units`; shown by `facts_table`
  with `fact_rows`, downloaded by `facts_export`; sources by `bibliography` with `source_use`;
  `measured`, `measured_checks`, `measured_table`; what fences share: `data_blocks`, `quantities`,
  `schema`; rendered once for check and page by `data_fences`; charts: `charts`,
  `chart_lines`, `chart_vega`, `chart_svg`, `chart_html`; numbers in prose: `values`,
  `value_markers`, `value_links`.
- Calculators: the package `calc` (`registry` of the scripts, `engine` that runs them in V8,
  `presets` from the data, `page` for the fence, `cli`); their formulas are written once, in
  `docs/assets/javascripts/calc/`.
- What pages get besides their text: `page_parts`, `contents`, `topic_map`, `backlinks`, `history`.
- Search, in the browser and in a terminal: the package `search`.
- Building and starting: `publish`, `offline` with `offline_worker.js` (hosted, network off),
  `scaffold`.
- Other people's sites, never part of a build: the package `external`.
"""
