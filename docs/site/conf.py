"""Configuration of the site: `make docs` builds it from the pages in `docs`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import syntagma

project = "Syntagma"
author = "the authors of Syntagma"
copyright = author  # Sphinx's name
version = release = syntagma.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_external_toc",
    "outside_files",
    "chain_diagram",
]
external_toc_path = "site/navigation.yml"
exclude_patterns = ["site", "squad10k", "**.ipynb_checkpoints"]

# Pages: Markdown as on GitHub, with the anchors that it gives headings of any level.
myst_heading_anchors = 6
myst_fence_as_directive = ["mermaid"]
myst_url_schemes = {"http": None, "https": None, "as-it-is": {"url": "{{path}}"}}
# Blocks without a language are commands and output.
highlight_language = "none"

# Tutorials run whenever the site is built: an error in one is an error of the build.
# Without widgets for progress bars, tqdm warns, with the path of its file.
os.environ.setdefault("PYTHONWARNINGS", "ignore:IProgress not found")
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
# Progress bars.
nb_output_stderr = "remove"

# Reference: what the docstrings say, in the order of the source.
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = False
napoleon_numpy_docstring = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True
add_module_names = False

html_theme = "furo"
html_title = "Syntagma"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
copybutton_exclude = ".linenos, .gp, .go"

# Only `make docs-links` asks other hosts.
linkcheck_timeout = 20
linkcheck_retries = 2
