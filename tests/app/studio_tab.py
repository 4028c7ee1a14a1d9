"""A person at the page of the studio: a Chromium tab with real clicks and keys, found by what is written on things."""

from __future__ import annotations

import json
import time

from tests.app.studio_server import PATIENCE
from tests.present.browser import Browser

FIND = """(name, within) => {
  const all = [...document.querySelectorAll(`${within} :is(button, a, input, select, textarea, summary)`)];
  const seen = all.filter(one => one.checkVisibility());
  return seen.find(one => one.getAttribute("aria-label") === name || one.textContent.trim() === name)
    || seen.find(one => one.textContent.trim().startsWith(name));
}"""


class Tab(Browser):
    """One tab of a browser at a studio."""

    def __init__(self, address, width=1200, height=800, *, dark=False):
        super().__init__(width, height, dark=dark)
        self.address = address

    def visit(self):
        """Opens the page, or opens it again, and waits until it is ready."""
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=self.address)
        self.until("document.body?.dataset.ready === 'true'")

    def until(self, condition):
        """Waits until a condition holds in the page, and returns its value; an element is true."""
        end = time.monotonic() + PATIENCE
        script = f"(found => (found instanceof Node ? true : found))({condition})"
        while not (found := self.run(script)):
            assert time.monotonic() < end, (
                condition,
                self.run("document.getElementById('error')?.textContent"),
                self.troubles,
            )
            time.sleep(0.03)
        return found

    def find(self, name, within="body"):
        """The middle of what carries this name or label, in pixels of the window."""
        script = f"""(() => {{
          const found = ({FIND})({json.dumps(name)}, {json.dumps(within)});
          if (!found) return null;
          found.scrollIntoView({{ block: "nearest" }});
          const box = found.getBoundingClientRect();
          return found.disabled ? null : [box.left + box.width / 2, box.top + box.height / 2];
        }})()"""
        return self.until(script)

    def press(self, name, within="body"):
        """Clicks what carries this name or label."""
        self.click(*self.find(name, within))

    def click(self, x, y):
        """A click of the mouse."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = "none" if kind == "mouseMoved" else "left"
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def write(self, name, text, within="body"):
        """Replaces the text of a field by typing."""
        self.press(name, within)
        self.run("document.activeElement.select()")
        self.ask("Input.insertText", text=text)

    def leave(self):
        """Leaves the field that was typed into."""
        self.run("document.activeElement.blur()")

    def choose(self, name, value):
        """Chooses an option of a list, by its text."""
        self.find(name)
        done = self.run(f"""(() => {{
          const list = ({FIND})({json.dumps(name)}, "body");
          const option = [...list.options].find(one => one.textContent === {json.dumps(value)});
          if (!option) return false;
          list.value = option.value;
          list.dispatchEvent(new Event("change", {{ bubbles: true }}));
          return true;
        }})()""")
        assert done, f"{name} has no option {value}"

    def drawn(self):
        """How often the live scene was made anew."""
        return int(self.run("document.body.dataset.lived || 0"))

    def text_of(self, selector):
        """What is written there."""
        return self.run(f"document.querySelector({json.dumps(selector)})?.textContent")

    def nameless(self):
        """Controls that are seen and have no name for a screen reader."""
        return self.run("""[...document.querySelectorAll("input, select, button, textarea, canvas, summary")]
          .filter(one => one.checkVisibility())
          .filter(one => !(one.getAttribute("aria-label") || one.textContent.trim() || one.title
            || [...(one.labels || [])].some(label => label.textContent.trim())))
          .map(one => one.outerHTML.slice(0, 160))""")

    def width_needed(self):
        """The width that the page takes, which is larger than the window if it must be scrolled sideways."""
        return self.run("document.scrollingElement.scrollWidth")
