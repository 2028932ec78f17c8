"""One page of HTML with the tables and figures of the papers, of results measured earlier. All it needs is inside it."""

from .page import Unusable, main

__all__ = ["Unusable", "main"]
