"""The finished site: staged, checked, completed, put in place, packed, offline."""
