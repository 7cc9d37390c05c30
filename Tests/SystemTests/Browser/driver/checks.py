"""Checks of the page that a browser shows. Each returns a list of sentences about faults, or a number."""

import base64
import importlib.util
import json
import os
from urllib.parse import urlsplit

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

WIDTHS = (360, 800, 1400)
SCHEMES = ("light", "dark")


def axe_source():
    # The package itself needs Playwright, so it is not imported.
    package = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
    with open(os.path.join(package, "axe.min.js"), encoding="utf-8") as file:
        return file.read()


def resize(driver, width, height=900):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )


def show(driver, width, scheme):
    """Sets the width of the window and the preferred colours."""
    resize(driver, width)
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {
            "features": [
                {"name": "prefers-color-scheme", "value": scheme},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ]
        },
    )


def violations(driver):
    """Returns the violations that axe-core finds in the page, with all rules that are not experimental."""
    if not driver.execute_script("return typeof axe === 'object'"):
        driver.execute_script(axe_source())
    results = driver.execute_async_script(
        "const done = arguments[0];"
        "axe.run(document, {resultTypes: ['violations']}).then((results) => done(results.violations),"
        " (error) => done([{id: 'axe', nodes: [{target: [], failureSummary: String(error)}]}]));"
    )
    found = [
        f"{result['id']}: {' '.join(map(str, node['target']))}: {' '.join(node['failureSummary'].split())}"
        for result in results
        for node in result["nodes"]
    ]
    if not results and driver.execute_script("return axe.getRules().length") < 50:
        found.append("axe: there are no rules")
    return found


def overflow(driver):
    """Returns the elements that make the page wider than the window."""
    return driver.execute_script("""
      const width = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= window.innerWidth) return [];
      const wide = [...document.querySelectorAll("body *")].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.right > width + 0.5;
      });
      return [`${document.documentElement.scrollWidth} > ${window.innerWidth}: ` +
        wide.slice(-3).map((element) => element.outerHTML.slice(0, 80)).join(" ")];
    """)


def rows(driver):
    """Returns whether the head of a page of the console takes more than one row. Pages for readers have none."""
    return driver.execute_script("""
      // On a small screen, the links are in a menu below the head.
      const links = document.querySelector(".open-menu")?.checkVisibility() ? ".open-menu" : "li";
      const boxes = [...document.querySelectorAll(`.top .brand, .top ${links}, .top .account`)]
        .map((element) => element.getBoundingClientRect());
      return Math.max(...boxes.map((box) => box.top)) >= Math.min(...boxes.map((box) => box.bottom));
    """)


def screenshot(driver, file):
    """Stores a picture of the whole page.

    The window gets the height of the page, so that parts which stick to the window are at their places.
    """
    width, height = driver.execute_script(
        "return [innerWidth, Math.max(innerHeight, document.documentElement.scrollHeight)]"
    )
    resize(driver, width, min(height, 8000))
    data = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    resize(driver, width)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "wb") as output:
        output.write(base64.b64decode(data))


def weight(driver):
    """Returns the size of the page's HTML, styles and scripts together, in bytes before compression."""
    return driver.execute_script("""
      const loaded = performance.getEntriesByType("resource")
        .filter((entry) => /\\.(css|js)$/.test(new URL(entry.name).pathname));
      return [...performance.getEntriesByType("navigation"), ...loaded]
        .reduce((sum, entry) => sum + entry.decodedBodySize, 0);
    """)


def requested(driver):
    """Returns the addresses that the browser has asked for since the last call."""
    found = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            found.append(message["params"]["request"]["url"])
    return found


def foreign(addresses, home):
    """Returns the addresses that belong to another origin than the server's."""
    own = urlsplit(home)
    return [
        address
        for address in addresses
        if urlsplit(address).scheme in ("http", "https", "ws", "wss") and urlsplit(address)[:2] != own[:2]
    ]


def complaints(driver):
    """Returns the errors in the console of the browser, such as what the content security policy has stopped."""
    return [
        entry["message"]
        for entry in driver.get_log("browser")
        # A page of an error is loaded with its status, and the tests may block scripts.
        if entry["level"] == "SEVERE"
        and "Failed to load resource: the server responded with a status of" not in entry["message"]
        and "net::ERR_BLOCKED_BY_CLIENT" not in entry["message"]
    ]


def inspect(driver, home, name, output, widths=WIDTHS, schemes=SCHEMES):
    """Checks the page that is shown, at some widths and with some colours, and stores the pictures."""
    faults = []
    addresses = requested(driver)
    if not addresses:
        faults.append("no request was recorded")
    faults += [f"loaded from elsewhere: {address}" for address in foreign(addresses, home)]
    faults += [f"console: {message}" for message in complaints(driver)]
    size = weight(driver)
    pictures = []
    for scheme in schemes:
        for width in widths:
            show(driver, width, scheme)
            faults += [f"{width}: too wide: {fault}" for fault in overflow(driver)]
            if rows(driver):
                faults.append(f"{width}: the head takes more than one row")
            pictures.append(f"{name}-{width}-{scheme}.png")
            screenshot(driver, os.path.join(output, pictures[-1]))
            if width != 800:
                faults += [f"{width} {scheme}: {fault}" for fault in violations(driver)]
    show(driver, 1400, "light")
    return {"step": "page", "name": name, "faults": faults, "bytes": size, "pictures": pictures}


# The controls that the Tab key must reach, in the order of the document. A group of radio buttons counts as one.
REACHABLE = """
  const groups = new Set();
  const controls = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]");
  return [...controls].filter((element) => {
    if (element.type === "hidden" || element.tabIndex < 0 || element.matches(":disabled")) return false;
    if (!element.checkVisibility({visibilityProperty: true})) return false;
    if (element.type !== "radio") return true;
    return !groups.has(element.name) && groups.add(element.name);
  });
"""

# The description of the element with the focus, and whether a person sees that it has it.
FOCUSED = """
  const element = document.activeElement;
  if (!element || element === document.body || element === document.documentElement) return null;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const at = (x, y) => {
    const found = document.elementFromPoint(x, y);
    return found && (element.contains(found) || found.contains(element) || [...(element.labels ?? [])].some((label) =>
      label.contains(found)));
  };
  const faults = [];
  if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) === 0) faults.push("has no outline");
  if (box.width < 2 || box.height < 2) faults.push("has no size");
  const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
  const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
  if (left >= right || top >= bottom) faults.push("is outside the window");
  else if (!at((left + right) / 2, (top + bottom) / 2) && !at(left + 3, top + 3)) faults.push("is covered");
  return [element, faults];
"""


def press(driver, *keys):
    """Presses keys one after the other, wherever the focus is."""
    ActionChains(driver, duration=0).send_keys(*keys).perform()


def tab_stops(driver):
    """Presses Tab from the beginning of the page to its end. Returns the elements with the focus and the faults."""
    stops, faults = [], []
    expected = driver.execute_script(REACHABLE)
    # A date field has several stops.
    for _ in range(len(expected) * 8 + 10):
        press(driver, Keys.TAB)
        focused = driver.execute_script(FOCUSED)
        if focused is None or (stops and focused[0] == stops[0] and focused[0] != stops[-1]):
            return stops, faults
        if not stops or focused[0] != stops[-1]:
            stops.append(focused[0])
            faults += [f"{describe(driver, focused[0])} {fault}" for fault in focused[1]]
    return stops, faults + ["Tab does not reach the end of the page"]


def describe(driver, element):
    return driver.execute_script(
        "const e = arguments[0];"
        "return `${e.localName}#${e.id || e.name || ''} “${(e.innerText || e.value || '').trim().slice(0, 30)}”`",
        element,
    )


def keyboard(driver):
    """Checks that Tab reaches all controls in the order of the document, and that the focus is always visible."""
    # The next Tab starts at the element that was focused or clicked last.
    driver.execute_script("""
      document.body.tabIndex = -1;
      document.body.focus();
      document.body.removeAttribute("tabindex");
      window.scrollTo(0, 0);
    """)
    expected = driver.execute_script(REACHABLE)
    stops, faults = tab_stops(driver)
    for element in expected:
        if element not in stops:
            faults.append(f"Tab does not reach {describe(driver, element)}")
    order = [element for element in stops if element in expected]
    if order != [element for element in expected if element in stops]:
        faults.append("the order of Tab is not that of the document: " + ", ".join(describe(driver, e) for e in order))
    return [describe(driver, element) for element in stops], faults
