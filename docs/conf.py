"""Configuration of the documentation: `make docs` builds it and runs its examples."""

import turntape

project = "turntape"
author = "The turntape developers"
copyright = "2026, The turntape developers"
release = turntape.__version__
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"turntape {release}"

# Docstrings follow the Google convention, which napoleon reads; types stand in the signatures.
napoleon_google_docstring = True
napoleon_numpy_docstring = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}

# Only examples written as interpreter sessions are run: `>>>` says that its output is shown.
doctest_test_doctest_blocks = "default"
# Docstrings use the public names as if they stood where those are defined.
doctest_global_setup = "import turntape; from turntape import *"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
