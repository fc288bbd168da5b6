"""The verbs and declarations of the public package, `django_punctual`, which names them."""
