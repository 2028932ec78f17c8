"""One page of HTML with the tables and figures of the papers, of results measured earlier. All it needs is inside it."""

from .page import main

__all__ = ["main"]
