"""Random search: the null baseline that every other engine has to beat."""
