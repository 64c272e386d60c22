"""What authors of engines may build on; nothing here knows a particular engine.

=================  ================================================================================
``usage_matrix``   which options use which resources (CSR); ``cchybrid.problem.ragged`` has the
                   arithmetic of ragged arrays
``packing``        scatter-like Problems as packing problems: rows, columns, compatibility classes
``solver``         CP-SAT and linear programs: limits, threads, seeds, stopping, late answers
``dual_prices``    dual prices as integers: bounds, options ruled out, full resources
``cpsat``          the CP-SAT model of "is there a schedule of S steps", its symmetries, its rows
``options``        checks of an engine's options
``kernels``        compiled inner loops: greedy schedules, conflicts, mutation, local search
``islands``        searches side by side on threads
``step_control``   which number of steps to try next
``evolution``      what the evolutionary engines have in common
``tabu_search``    tabu search over paths
=================  ================================================================================
"""
