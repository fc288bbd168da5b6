"""What a caller of articles_app.lifecycle may catch. Whichever it is, nothing was written."""

from django_punctual import InvalidTask, PunctualError

from .states import ArticleStatus, allowed_moves


class ArticleError(PunctualError):
    """Base of what articles_app raises on purpose."""


class InvalidArticle(ArticleError, InvalidTask):
    """A title, a time or another input was refused."""


class InvalidArticleSettings(ArticleError, ValueError):
    """ARTICLES in the settings has a problem."""


class UnknownArticle(ArticleError, LookupError):
    """There is no article with this id."""


class AlreadyCreated(ArticleError):
    """The token was used: `article_id` is what it made, and `same` whether of what is given now."""

    def __init__(self, article_id: int, same: bool) -> None:
        self.article_id, self.same = article_id, same
        what = "the same text and times" if same else "different text or times"
        super().__init__(
            f"the token has already created article {article_id}, with {what}. Use another token for a new one."
        )


class IllegalMove(ArticleError):
    """The article's state does not allow the move."""

    def __init__(self, article_id: int, status: ArticleStatus, verb: str) -> None:
        self.article_id, self.status, self.verb, self.allowed = article_id, status, verb, allowed_moves(status)
        super().__init__(
            f"article {article_id} is {status}, and {verb} is not allowed in that state. "
            f"Allowed: {', '.join(self.allowed)}."
        )


class StaleArticle(ArticleError):
    """Somebody has written the article since the caller read it."""

    def __init__(self, article_id: int, wanted: int, found: int, last: str) -> None:
        self.article_id, self.wanted, self.found = article_id, wanted, found
        super().__init__(
            f"article {article_id} was changed since you read it: you have revision {wanted}, it is at {found}. "
            f"{last} Read it again and decide again."
        )
