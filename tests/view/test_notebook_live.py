"""The live view below the cell of a notebook."""

import pytest

CODE = """
import cchybrid
result = cchybrid.solve("mesh-4x4", "alltoall", time_limit=4, bounds=False)
"""


@pytest.mark.slow
def test_a_run_is_shown_while_it_works_and_not_afterwards(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    from nbclient import NotebookClient

    pages = []

    class Client(NotebookClient):
        def process_message(self, message, cell, cell_index):
            if message["msg_type"] == "update_display_data":
                pages.append(message["content"]["data"]["text/html"])
            return super().process_message(message, cell, cell_index)

    cell = nbformat.v4.new_code_cell(CODE)
    resources = {"metadata": {"path": str(tmp_path)}}
    book = nbformat.v4.new_notebook(cells=[cell])
    Client(
        book, timeout=60, startup_timeout=120, resources=resources, kernel_name="python3"
    ).execute()
    assert any("best: " in page and "lower bound: " in page for page in pages)
    assert pages[-1] == ""
