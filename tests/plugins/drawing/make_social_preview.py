"""Write ``docs/pictures/social-preview.png``; started as a module (``python -m``)."""

from pathlib import Path

from tests.plugins.drawing.chromium import find_chromium, started_chromium

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 640
"""Pixels, as GitHub asks for."""
PAGE = """<!doctype html>
<style>
  body { margin: 0; width: 1280px; height: 640px; background: #fff; color: #1a1f25;
    font-family: "DejaVu Sans", sans-serif; display: flex; flex-direction: column;
    justify-content: space-evenly; }
  header { display: flex; align-items: center; gap: 40px; padding: 0 72px; }
  header svg { width: 150px; height: 150px; flex: none; }
  h1 { margin: 0 0 14px; font-size: 72px; line-height: 1; }
  p { margin: 0; font-size: 29px; line-height: 1.35; color: #414a54; }
  figure { margin: 0 72px; }
  figure svg { display: block; width: 100%; height: auto; }
</style>
<header>LOGO<div><h1>cchybrid</h1>
<p>Collective communications in the fewest steps, for any network, with a proof
that there are no fewer</p></div></header>
<figure>STEPS</figure>
"""


def inline(name: str) -> str:
    """Return a picture as an element of a page."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return text[text.index("<svg") :]


def main() -> None:
    """Show logo, name and an all-to-all on the Spidergon in Chromium, and write the picture."""
    program = find_chromium()
    if program is None:
        raise SystemExit("there is no Chromium")
    page = PAGE.replace("LOGO", inline("logo.svg")).replace("STEPS", inline("steps.svg"))
    with started_chromium(program) as browser:
        tab = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}).new_page()
        tab.set_content(page)
        tab.screenshot(path=FOLDER / "social-preview.png")


if __name__ == "__main__":
    main()
