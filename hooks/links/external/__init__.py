"""Other people's sites, asked now and then; never part of a build."""
