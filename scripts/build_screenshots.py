"""Build docs/images/report-*.png from reports: one for all four pictures, or one for each.

    pugnn demo --out runs/demo
    python scripts/build_screenshots.py runs/demo

Needs Playwright, Pillow and a Chromium on the path.
"""

from __future__ import annotations

import io
import shutil
import sys
from itertools import cycle
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DEVICES = {"desktop": (1280, 800), "phone": (390, 844)}

#: The last section that is shown: with all that follow, a picture would be too long to look at.
LAST = "#good"
COLOURS = 128


def main(runs: list[Path]) -> None:
    reports = cycle((run / "report.html").resolve() for run in runs)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        for device, (width, height) in DEVICES.items():
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(next(reports).as_uri())
                page.wait_for_selector("html[data-ready]", state="attached")
                box = page.locator(LAST).bounding_box()
                assert box is not None
                target = IMAGES / f"report-{device}-{scheme}.png"
                clip = {"x": 0, "y": 0, "width": width, "height": box["y"] + box["height"] + 24}
                shot = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip)))
                # The page has few colours; a palette of them makes the file half as large.
                shot.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE).save(target, optimize=True)
                print(f"{target.name}: {target.stat().st_size / 1000:,.0f} kB")
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main([Path(name) for name in sys.argv[1:]])
