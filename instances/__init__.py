"""The library of instances as files, with the suites of ``cchybrid bench run``."""
