#!/usr/bin/env python3
"""Opens the site in headless Chromium as a reader from a disk would, by file://: wide and narrow, light and dark. Fails where a page writes errors
on the console, is wider than the window, or where a search does not find what there is.

    python3 tools/docs/browse.py build/docs/html --pictures build/docs/pictures
"""

import argparse
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

WIDTHS = {"wide": (1440, 1000), "narrow": (390, 844)}
SEARCHES = {"parallel_for": "tour/loops", "stop_token": "tour/stopping", "libfork": "papers", "deadline": "reference/"}


def browser() -> webdriver.Chrome:
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def show(driver: webdriver.Chrome, width: str, scheme: str) -> None:
    w, h = WIDTHS[width]
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": w, "height": h, "deviceScaleFactor": 1, "mobile": width == "narrow"})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def said(driver: webdriver.Chrome, where: str) -> list[str]:
    """What the browser has said since it was last asked."""
    return [f"{where}: {entry['level']}: {entry['message']}" for entry in driver.get_log("browser")]


def overflow(driver: webdriver.Chrome) -> int:
    return int(driver.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def search(driver: webdriver.Chrome, site: Path, word: str, page: str) -> list[str]:
    driver.get(f"{(site / 'search.html').as_uri()}?q={word}")
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found = [link.get_attribute("href") or "" for link in driver.find_elements(By.CSS_SELECTOR, "#search-results li a")]
        if any(page in link for link in found):
            return []
        time.sleep(0.1)
    return [f"search for '{word}': did not find {page}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of the windows")
    parser.add_argument("--of", nargs="*", default=["index", "tour/loops", "guides/from-others", "reference/pool", "examples/README", "search"],
                        help="the pages that are taken pictures of")
    args = parser.parse_args()
    site = args.site.resolve()
    pages = sorted(p.relative_to(site).with_suffix("").as_posix() for p in site.rglob("*.html") if "_static" not in p.parts)
    if not pages:
        raise SystemExit(f"{args.site}: there are no pages; ./nopal docs makes them")
    problems: list[str] = []
    driver = browser()
    try:
        for width in WIDTHS:
            show(driver, width, "light")
            for page in pages:
                driver.get((site / f"{page}.html").as_uri())
                problems += said(driver, f"{page}, {width}")
                if (more := overflow(driver)) > 0:
                    problems.append(f"{page}, {width}: is {more} pixels wider than the window")
        show(driver, "wide", "light")
        for word, page in SEARCHES.items():
            problems += search(driver, site, word, page)
        problems += said(driver, "search")
        if args.pictures is not None:
            args.pictures.mkdir(parents=True, exist_ok=True)
            for width in WIDTHS:
                for scheme in ("light", "dark"):
                    show(driver, width, scheme)
                    for page in args.of:
                        driver.get((site / f"{page}.html").as_uri() + ("?q=scope" if page == "search" else ""))
                        time.sleep(0.3)
                        driver.save_screenshot(str(args.pictures / f"{page.replace('/', '_')}-{width}-{scheme}.png"))
            problems += said(driver, "pictures")
    finally:
        driver.quit()
    print(*problems, sep="\n", file=sys.stderr)
    print(f"{len(pages)} pages in {len(WIDTHS)} widths, {len(SEARCHES)} searches: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
