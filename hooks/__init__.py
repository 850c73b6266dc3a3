"""What no author should keep by hand, and what must not mislead a reader: ten rooms.

- `adapter`, `cli`, `handbook`: MkDocs events and commands, as calls; the sources read and checked.
- `pages`: what a page shows beside its prose. `site`: the finished site.
- `search`, `links`, `calc`, `drawings`: answers, addresses, calculators, pictures.
- `notes`: many notes. `data`: facts and measurements. `markdown`: one text.
- `findings`: what is wrong, where, and how it is said.

A room imports downwards only and names the room, not a module in it. More: hooks/README.md.
"""
