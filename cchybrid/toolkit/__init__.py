"""Building blocks for authors of engines; nothing here depends on a particular engine.

Nothing in it is required. Each module says more.

``assignments``
    Parts of assignments: ``made_where``, ``without_idle``.
``kernels``
    Compiled inner loops: ``compiled`` and ``inlined`` are decorators for kernels in numba, whose
    compiled code is kept.
``kernels.flat``
    ``flatten`` returns a Problem as a ``Flat``, the tuple of arrays that kernels take.
``kernels.rng``
    Random numbers on an explicit state: ``seed_state``, ``below``, ``uniform``, ``shuffle``.
``kernels.indexed_list``
    ``IndexedList``: insertion and removal in constant time.
``kernels.first_fit``
    Greedy list scheduling for any Problem: ``first_fit``, ``FirstFit``, ``fill``.
``kernels.occupancy``
    How often every resource is used in every step: ``add``, ``remove``, ``fits``.
``kernels.conflicts``
    Violations of an assignment, counted fast: ``conflicts``, ``broken``.
``kernels.surrounding``
    ``restrict`` limits the distance of senders (thesis section 6.5.5).
``evolution``
    The common part of evolutionary engines: ``engine.EvolutionEngine``,
    ``options.EvolutionOptions``, ``genome.Genome``; the operators of the thesis:
    ``mutation.mutate``, ``restoration.restore``, ``mutation.swap_steps``, ``ports.spread_ports``,
    ``initial.complete``; and ``min_conflicts.settle``, a local search.
``tabu_search``
    Weighted tabu search: ``island.TabuIsland``, ``options.TabuOptions``.
``islands``
    ``explore`` runs searches, each an ``Island``, side by side on threads that exchange their best,
    repeatably.
``search_run``
    ``EvaluationBudget``: what is left for each island; ``watched``: a flag that stops kernels.
``step_control``
    ``control_steps``: which number of steps to try next.
``list_scheduling``
    ``ListScheduler``: schedules of Problems in ticks, by random keys.
``partial_schedule``
    ``PartialSchedule``: deliveries without conflicts, some unscheduled; ``repaired``: a
    near-solution without its conflicts.
``usage_matrix``
    ``UsageMatrix``: which option uses which resource how often, in compressed sparse rows;
    ``families``. ``cchybrid.problem.ragged`` has the arithmetic of ragged arrays.
``packing``
    Problems without order as packing problems: ``Packing``, ``refusal``.
``solver``
    Calls to CP-SAT and linear programs that end when the run ends: ``new_solver``, ``solve``,
    ``solve_program``, ``until_stopped``.
``cpsat``
    CP-SAT: ``model.build`` makes a ``model.StepModel``, "a schedule of S steps"; ``solve.decide``,
    ``solve.decision_solver`` and ``solve.small_solver`` return a ``solve.Answer``; ``rows.Rows``
    writes large models quickly; ``windows.Windows`` has the steps in which an option is possible;
    ``automorphisms.Automorphisms`` breaks symmetries; ``repack.Repack``, with ``repack.places_for``
    and ``repack.with_helpers``, models some deliveries, all others being fixed.
``dual_prices``
    Dual prices that bound the steps and exclude options: ``Prices``, ``Pricing``, ``LoadProgram``.
``options``
    ``require`` checks an engine's options.
``warmup_problem``
    ``warmup_problem``: a tiny Problem on which ``prepare()`` compiles kernels;
    ``compile_first_fit`` compiles those of greedy schedules.
"""
