"""What the evolutionary engines share: genome, population, generations, islands, options."""
