"""Settings of Sphinx for the documentation: ``make docs`` writes it as static HTML.

The public docstrings are numpydoc, which Sphinx reads; the pages are Markdown, which MyST reads.
"""

import os
import sys
from importlib.metadata import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "cchybrid"
author = "The cchybrid authors"
release = metadata("cchybrid")["Version"]

extensions = [
    "archive_pages",
    "myst_nb",
    "numpydoc",
    "reference_pages",
    "repository_links",
    "sphinx.ext.autodoc",
    "sphinx_design",
]
exclude_patterns = ["_build", "**/.ipynb_checkpoints", "generated/node_modules"]
# Not every block of JSON or TOML in the pages is a whole document.
suppress_warnings = ["misc.highlighting_failure"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]  # cards of the home page
# The notebook is executed by a test, and holds its output.
nb_execution_mode = "off"

smartquotes = False  # it makes a dash of the two hyphens of an option
add_module_names = False
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"cchybrid {release}"
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_logo = html_favicon = "pictures/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("versions.js", {"defer": "defer"})]
html_extra_path = ["pictures/social-preview.png"]
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
# Previews of links need an absolute address, so only a published site has them.
html_baseurl = os.environ.get("DOCS_URL", "")
html_context = {"preview": html_baseurl and f"{html_baseurl}social-preview.png"}
