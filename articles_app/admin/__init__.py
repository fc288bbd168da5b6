"""The editor's pages. Every write goes through articles_app.lifecycle, with the revision that the editor has read."""

from .list import ArticleAdmin

__all__ = ["ArticleAdmin"]
