"""Tabu search with constraint weighting over options and steps, for a fixed number of steps.

``search.py`` describes the algorithm, ``moves.py`` the pricing of moves, ``path_graphs.py`` the
graphs over which all paths of a delivery are priced at once, ``memory.py`` the state of a search,
``island.py`` the restarts.
"""
