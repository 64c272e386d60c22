"""Text in LaTeX."""

from cchybrid.model.text import printable

LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "-": "-{}", "`": "{`}",
    "'": "{'}", "[": "{[}", "]": "{]}", "*": "{*}", '"': r"{\char34}", ",": ",{}",
}  # fmt: skip
"""LaTeX for characters with a meaning of their own, alone or side by side."""


def escape_latex(text: str) -> str:
    """Return a text as LaTeX that prints it, whatever it contains."""
    return "".join(LATEX.get(letter, letter) for letter in printable(text))
