"""The search for evidence: kinds of proof from cheap to strong. None of it is trusted.

What it finds is checked by ``certify``, which imports nothing from here.
"""
