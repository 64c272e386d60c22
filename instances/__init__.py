"""The library of instances as files; ``cchybrid bench run`` finds its suites here."""
