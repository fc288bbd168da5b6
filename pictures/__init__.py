"""`make pictures`: takes the pictures in docs/images of a real installation, with data that makes sense."""
