# ===- conf.py - The site of these pages, by Sphinx -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Read by sphinx-build, which utils/build-site.sh calls on a copy of the pages with the generated reference beside them."""
from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

project = "Luminal"
html_title = "Luminal"
html_theme = "furo"
html_show_sphinx = False
html_show_copyright = False
extensions = ["myst_parser"]
myst_enable_extensions = ["tasklist"]
# Anchors of headings are those of GitHub, of all levels that a link names.
myst_heading_anchors = 4
# The generated pages leave out levels of headings.
suppress_warnings = ["myst.header"]
# Languages that Pygments does not know, or not all of.
lexers.update({name: TextLexer() for name in ("mlir", "pdll", "ptx", "tablegen")})
