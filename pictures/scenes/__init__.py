"""What has to be there for a picture, a module each.

A scene is a generator. It makes what is past while no process runs yet, with the database's clock set back, and yields;
once beats and workers are up it goes on, and makes what happens now.
"""
