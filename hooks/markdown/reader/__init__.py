"""The site's Markdown read by hand, line by line: blocks, lists, tables, spans."""
