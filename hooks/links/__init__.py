"""Where notes lead, and what breaks: targets, anchors, assets, published addresses."""

from __future__ import annotations

from hooks.links.bare import bare_addresses
from hooks.links.judge import check_links
from hooks.links.moved import page_address
from hooks.links.targets import Settings, Target, resolve
