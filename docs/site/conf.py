# How Sphinx makes the site of what tools/docs/assemble.py has put together: `./nopal docs`.

import os

from pygments.lexers.c_cpp import CppLexer
from sphinx.domains.c import CDomain
from sphinx.domains.cpp import CPPDomain

project = "nopal"
author = "the authors of nopal"
copyright = author  # noqa: A001: Sphinx calls it so
release = os.environ["NOPAL_DOCS_VERSION"]
version = release
root_doc = "index"

extensions = ["myst_parser", "breathe"]
myst_heading_anchors = 4
suppress_warnings = [
    "myst.header",  # pages of the forge begin where they like
    "duplicate_declaration.cpp",  # `namespace nopal`, on each page of the reference
    "duplicate_declaration.c",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
highlight_language = "text"
nitpicky = False

breathe_projects = {"nopal": os.environ["NOPAL_DOCS_XML"]}
breathe_default_project = "nopal"
breathe_show_include = False
breathe_domain_by_extension = {"hpp": "cpp", "h": "c"}
cpp_id_attributes = ["nodiscard"]

html_theme = "furo"
html_title = f"nopal {release}"
html_static_path = ["_static"]
html_css_files = ["nopal.css"]
html_extra_path = [os.environ["NOPAL_DOCS_FILES"]]
html_show_sphinx = False
html_copy_source = False
html_show_search_summary = False  # it would fetch pages, which no browser does from file://
pygments_style = "friendly"
pygments_dark_style = "monokai"


def without_parameters(domain):  # noqa: ANN001, ANN201
    """The domain, but a search is for functions and types, and not for the names of their parameters."""

    class WithoutParameters(domain):
        def get_objects(self):  # noqa: ANN201
            return (found for found in super().get_objects() if found[2] not in ("functionParam", "templateParam"))

    return WithoutParameters


def setup(app):  # noqa: ANN001, ANN201
    for domain in (CDomain, CPPDomain):
        app.add_domain(without_parameters(domain), override=True)
    app.add_lexer("cilk", CppLexer)
