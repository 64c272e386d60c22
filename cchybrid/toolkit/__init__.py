"""Building blocks for authors of engines; nothing here depends on a particular engine.

=================  ================================================================================
``usage_matrix``   which options use which resources (CSR); ``cchybrid.problem.ragged`` has the
                   arithmetic of ragged arrays
``packing``        scatter-like Problems as packing problems: rows, columns, compatibility classes
``solver``         CP-SAT and linear programs: limits, threads, seeds, stopping
``dual_prices``    integer dual prices: bounds, reduced cost fixing, full resources
``cpsat``          the CP-SAT model of "is there a schedule of S steps", its symmetries, its rows
``options``        checks of an engine's options
``kernels``        compiled inner loops: greedy schedules, conflicts, mutation, local search
``islands``        parallel searches on threads that exchange solutions
``step_control``   which number of steps to try next
``evolution``      the common part of the evolutionary engines
``tabu_search``    tabu search with constraint weighting over paths and steps
=================  ================================================================================
"""
