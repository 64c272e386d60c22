"""Parts of foreign files that know their line, which errors name."""

from cchybrid.model.errors import InputError


class OnLine:
    """A part of a file that knows its line."""

    line: int

    def error(self, what: str, hint: str) -> InputError:
        """Return the error that something is wrong on the line, and how to correct it."""
        return InputError(what, where=f"line {self.line}", hint=hint)
