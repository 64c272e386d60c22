"""GAPPIN: the genetic algorithm for parallel processor interconnection networks."""
