"""`python -m pictures [NAME ...]`: takes the pictures in docs/images again, all of them or those that are named."""

import argparse
import time
from pathlib import Path

from .stack import ROOT, fresh_stack

IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 250_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m pictures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of pictures, such as fleet; none: all of them")
    parser.add_argument("--into", type=Path, default=IMAGES, help="another folder than docs/images")
    options = parser.parse_args()
    with fresh_stack() as stack:
        from .camera import Error, open_browser, take
        from .table import PICTURES

        known = [picture.name for picture in PICTURES]
        if unknown := sorted(set(options.names) - set(known)):
            raise SystemExit(f"there is no picture {', '.join(unknown)}; there are {', '.join(known)}.")
        wanted = [picture for picture in PICTURES if picture.name in (options.names or known)]
        scenes = {scene: scene(stack) for picture in wanted for scene in picture.scenes}
        for scene, told in scenes.items():
            with _timed(f"{scene.__name__}, before"):
                next(told)
        with _timed("beats, workers and the web process"):
            stack.start()
        with open_browser() as browser:
            missing = []
            for picture in wanted:
                for scene in picture.scenes:
                    if told := scenes.pop(scene, None):
                        with _timed(scene.__name__):
                            next(told, None)
                try:
                    with _timed(picture.name):
                        path = take(picture, browser, stack.url, options.into)
                except (AssertionError, Error) as error:  # the others may come out well
                    missing.append(f"{picture.name}: {error}")
                    continue
                if path.stat().st_size > MOST_BYTES:
                    missing.append(f"{picture.name}: {path.stat().st_size:,} bytes, and {MOST_BYTES:,} is the most")
    if missing:
        raise SystemExit("\n\n".join(missing))


class _timed:
    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        self._begun = time.monotonic()

    def __exit__(self, error: object, *more: object) -> None:
        if not error:
            print(f"{self._what:40} {time.monotonic() - self._begun:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
