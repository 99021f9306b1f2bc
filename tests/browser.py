"""A real browser, for tests of the page: Debian's chromium without a window, driven through chromedriver."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
# A sandbox of its own, a screen and the network are not to be had in a container.
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@dataclass(frozen=True)
class Browser:
    """A page as somebody sees and handles it; places are pixels of the window."""

    driver: webdriver.Chrome

    def open(self, page: Path, width: int = 1280, *, script: bool = True, media: str = "screen") -> None:
        """Open a file in a window of this width, and forget what the last one complained of."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **size)
        self.command("Emulation.setScriptExecutionDisabled", value=not script)
        self.command("Emulation.setEmulatedMedia", media=media)
        self.complaints()
        self.driver.get(page.as_uri())
        # Two frames: by then what depends on the size of the window is drawn.
        frames = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
        if script:
            self.driver.execute_async_script(frames)

    def command(self, name: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def complaints(self) -> list[str]:
        """Errors and warnings since they were last asked for: of scripts, of the policy, of what was not found."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def ask(self, script: str, *arguments: Any) -> Any:
        """What a function body returns in the page."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        """The first element that matches."""
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        """The texts of all that match, in order."""
        return list(self.ask("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector))

    def count(self, selector: str) -> int:
        """How many match."""
        return int(self.ask("return document.querySelectorAll(arguments[0]).length", selector))

    def click(self, selector: str, words: str) -> None:
        """Click the button with these words."""
        found = self.driver.find_elements("css selector", selector)
        (button,) = [one for one in found if self.ask("return arguments[0].textContent", one).startswith(words)]
        self.ask("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """An event of the mouse: mouseMoved, mousePressed, mouseReleased, mouseWheel."""
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the button at one place and release it at another."""
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button="left", clickCount=1)
        self.mouse("mouseMoved", *end, button="left")
        self.mouse("mouseReleased", *end, button="left", clickCount=1)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that knows nothing and leaves nothing behind."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for flag in (*FLAGS.split(), f"--user-data-dir={folder}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
        try:
            yield Browser(driver)
        finally:
            driver.quit()
