"""The common part of the evolutionary engines: genome, population, generations, islands."""
