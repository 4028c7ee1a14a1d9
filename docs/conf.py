"""Sphinx settings of the book (``make book``): the pages of this folder, with what their examples print and draw."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import pendula  # noqa: E402

project = "Pendula"
author = "The Pendula developers"
project_copyright = "The Pendula developers"
version = release = pendula.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "book.examples",  # runs the pages; shows what their blocks print and draw
    "book.reference",  # pages of the programming interface and of the commands
    "book.gallery",  # live pages of all library mechanisms
    "book.mathml",  # formulas without a script from the network
]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["generated/run/**", "generated/gallery/**", "generated/out/**", "benchmarks/**"]
html_extra_path = ["generated/extra"]
suppress_warnings = ["ref.python"]  # attributes of several results have one name
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

autodoc_typehints = "none"  # signatures are long; the sections on arguments state what each takes
autodoc_member_order = "bysource"
napoleon_use_ivar = True
napoleon_preprocess_types = False
python_display_short_literal_types = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"Pendula {release}"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["book/static"]
html_css_files = ["book.css"]
html_theme_options = {"top_of_page_buttons": []}
html_domain_indices = False
