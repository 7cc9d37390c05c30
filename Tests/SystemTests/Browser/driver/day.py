"""A newsroom's day in a browser, with JavaScript or without."""

import base64
import datetime
import os
import tempfile

from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browser import LIMIT
from newsroom import picture


class Failure(Exception):
    """A page is not as it should be."""


class Editor:
    """A person at a browser. Controls are found by their names, so the language of the pages does not matter."""

    def __init__(self, driver, address, newsroom, javascript, report):
        self.driver = driver
        self.address = address
        self.newsroom = newsroom
        self.javascript = javascript
        self.report = report

    def open(self, path):
        self.driver.get(self.address + path)

    def path(self):
        return self.driver.current_url.removeprefix(self.address)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def has(self, selector):
        return bool(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def text(self, selector="body"):
        return self.find(selector).text

    def expect(self, condition, what):
        if not condition:
            raise Failure(f"{what}: {self.path()}: {self.text()[:600]}")

    def wait(self, what, condition):
        """Waits until a condition is true of the page, which may be about to be replaced."""

        def holds(_):
            try:
                return condition()
            except (NoSuchElementException, StaleElementReferenceException):
                return False

        try:
            WebDriverWait(self.driver, LIMIT, poll_frequency=0.05).until(holds)
        except WebDriverException as error:
            raise Failure(f"{what}: {self.path()}: {self.text()[:600]}") from error

    def click(self, selector):
        """Clicks on a control that leads to another page, and waits for it."""
        page = self.find("html")
        control = self.find(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", control)
        control.click()
        self.leave(page)

    def leave(self, page):
        def is_gone():
            try:
                page.is_enabled()
                return False
            except WebDriverException:
                return True

        self.wait("the page stays", is_gone)
        self.wait(
            "the page is not complete", lambda: self.driver.execute_script("return document.readyState") == "complete"
        )

    def tick(self, selector):
        """Clicks on a box. The bar at the bottom of the window might cover it elsewhere."""
        box = self.find(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", box)
        box.click()

    def fill(self, field, text):
        element = self.find(f"#{field}")
        element.clear()
        element.send_keys(text)

    def value(self, field):
        return self.find(f'#editor [name="{field}"]').get_property("value")

    def set_time(self, field, time):
        """Types a time, which the field has in the browser's zone if scripts run, and in UTC otherwise."""
        if self.javascript:
            offset = self.driver.execute_script("return new Date(arguments[0]).getTimezoneOffset()", time.isoformat())
            time -= datetime.timedelta(minutes=offset)
        # The order of the keys depends on the language of the browser.
        self.driver.execute_script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
            self.find(f"#{field}"),
            time.strftime("%Y-%m-%dT%H:%M"),
        )

    def press_button(self, action):
        self.click(f'.buttons button[value="{action}"]')

    def expect_notice(self, notice):
        self.expect(f"done={notice}" in self.path() and self.has(".note.good"), f"the notice of {notice}")

    def expect_status(self, status):
        found = self.driver.execute_script("return performance.getEntriesByType('navigation')[0].responseStatus")
        self.expect(found == status, f"the status {found} in place of {status}")

    def item(self):
        """Returns the id of the item that the editor shows."""
        return self.find("#editor").get_attribute("action").rpartition("/")[2]


def write(editor, title, text, action):
    """Writes a new item and returns its id."""
    editor.open("/console/items/new")
    editor.fill("title", title)
    editor.fill("text", text)
    editor.press_button(action)
    return editor.item()


def sign_in(editor, link, key):
    if editor.javascript:
        editor.driver.get(link)
        editor.wait("the script reads the code", lambda: editor.find("#code").get_property("value") != "")
        editor.expect("#" not in editor.driver.current_url, "the address keeps the code")
        editor.expect(not editor.find("#code").is_displayed(), "the code is shown")
        editor.click("#link button")
    else:
        editor.open("/console/items/new")
        editor.expect(editor.path().startswith("/console/sign-in"), "a page without a session")
        editor.fill("key", key)
        editor.click("form.stack button")
        editor.expect(editor.path() == "/console/items/new", "the page that was asked for")
    editor.expect(editor.has("form.account"), "signed in")
    editor.report("signed in", path=editor.path())


def upload(editor, item, folder):
    """Adds files to an item: one with the form, and with scripts another one by drag and drop."""
    file = os.path.join(folder, "ferry.png")
    with open(file, "wb") as output:
        output.write(picture())
    editor.open(f"/console/items/{item}")
    editor.find("#upload").send_keys(file)
    editor.click('button[value="attach"]')
    editor.expect(editor.has("#attachment-0-alt"), "the attachment")
    editor.fill("attachment-0-alt", "The ferry at the pier")
    if editor.javascript:
        editor.driver.execute_script(
            """
            const bytes = Uint8Array.from(atob(arguments[0]), (character) => character.charCodeAt(0));
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([bytes], "dropped.png", {type: "image/png"}));
            const event = new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true});
            document.querySelector(".drop").dispatchEvent(event);
            """,
            base64.b64encode(picture(300, 200, 90)).decode(),
        )
        editor.wait("the dropped file", lambda: editor.has("#attachment-1-alt"))
        editor.expect(editor.find("#attachment-0-alt").get_property("value") != "", "the description that was typed")
    editor.press_button("save")
    editor.expect_notice("saved")
    width = editor.driver.execute_script(
        "const image = document.querySelector('.attachment img'); image.loading = 'eager';"
        "return image.decode().then(() => image.naturalWidth)"
    )
    editor.expect(width > 0, "the picture of the attachment")
    editor.report("uploaded", item=item, count=len(editor.driver.find_elements(By.CSS_SELECTOR, ".attachment")))


def autosave(editor, item):
    """Types and waits until the script has saved the draft."""
    editor.open(f"/console/items/{item}")
    editor.find("#summary").send_keys("Saved while typing.")
    editor.wait("the draft is saved", lambda: editor.newsroom.item(item).get("summary") == "Saved while typing.")
    editor.wait(
        "the revision of the form", lambda: int(editor.value("revision")) == editor.newsroom.item(item)["revision"]
    )
    editor.find("#author").send_keys("Anna")
    save_with_keys(editor)
    editor.expect(editor.newsroom.item(item).get("author") == "Anna", "Ctrl-S saves")

    # While the script saves, Ctrl-S waits for it, so that nobody is in conflict with themselves.
    set_latency(editor, 3000)
    editor.find("#author").send_keys(" Schmidt")
    saving = editor.find("#editor").get_attribute("data-saving")
    editor.wait("the script saves", lambda: editor.text("[data-status]") == saving)
    save_with_keys(editor)
    set_latency(editor, 0)
    editor.expect(editor.newsroom.item(item).get("author") == "Anna Schmidt", "Ctrl-S saves after the script")
    editor.report("saved while typing", item=item)


def save_with_keys(editor):
    page = editor.find("html")
    editor.find("#author").send_keys(Keys.CONTROL, "s", Keys.NULL)
    editor.leave(page)
    editor.expect_notice("saved")


def set_latency(editor, milliseconds):
    """Delays the requests of the browser."""
    conditions = {"offline": False, "latency": milliseconds, "downloadThroughput": -1, "uploadThroughput": -1}
    editor.driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)


def moment(year):
    """Returns half past ten on the first of May, in UTC."""
    return datetime.datetime(year, 5, 1, 10, 30, tzinfo=datetime.timezone.utc)


def schedule(editor, item, time):
    editor.open(f"/console/items/{item}")
    editor.set_time("publishAt", time)
    editor.press_button("schedule")
    editor.expect_notice("scheduled")
    editor.report("scheduled", item=item)


def conflict(editor, item):
    """Changes an item that another editor changes meanwhile."""
    editor.open(f"/console/items/{item}")
    editor.newsroom.change(item, title="Fog closes the airport")
    editor.fill("title", "Fog closes the port")
    editor.press_button("save")
    editor.expect(editor.has(".versions"), "the comparison")
    shown = editor.text("main")
    editor.expect("airport" in shown and "port" in shown, "both versions")
    editor.expect(
        editor.newsroom.item(item)["title"] == "Fog closes the airport", "nothing is saved before the decision"
    )
    editor.report("conflict", item=item)
    editor.click('.actions button[value="save"]')
    editor.expect_notice("saved")
    editor.expect(editor.value("title") == "Fog closes the port", "the version that was chosen")
    editor.report("saved over it", item=item)


def restore(editor, item):
    """Restores the first revision from the history."""
    editor.open(f"/console/items/{item}")
    editor.click(f'a[href$="/{item}/history"]')
    editor.click('form[action$="/history/1/restore"] button')
    editor.expect(editor.newsroom.item(item)["title"] == "Fog closes the port", "nothing is restored before the question")
    editor.click("button.danger")
    editor.expect_notice("restored")
    editor.report("restored", item=item, title=editor.value("title"))


def retract(editor, item, reason):
    editor.open(f"/console/items/{item}")
    editor.click(f'a[href$="/{item}/retract"]')
    editor.fill("reason", reason)
    editor.click("button.danger")
    editor.expect_notice("retracted")
    editor.expect(not editor.has('.buttons button[value="save"]'), "a retracted item cannot be changed")
    editor.report("retracted", item=item)


def expect_reader(editor, item, *texts):
    """Checks the page for readers."""
    editor.open(f"/items/{item}")
    for text in texts:
        editor.expect(text in editor.text(), f"readers see {text}")


def sign_out(editor):
    editor.open("/console/items")
    cookies = editor.driver.get_cookies()
    editor.expect(len(cookies) == 1 and cookies[0]["httpOnly"] and cookies[0]["sameSite"] == "Lax", "the cookie")
    editor.click("form.account button")
    editor.expect(not editor.has("form.account"), "signed out")
    editor.expect(editor.driver.get_cookies() == [], "no cookie remains")
    for path in ("/console/items", "/console/items/new", "/console/sessions", "/console/files"):
        editor.open(path)
        editor.expect(editor.path().startswith("/console/sign-in"), f"{path} after the end of the session")
        editor.expect(editor.has("#key"), "the form")
    # A copy of the cookie is worth nothing either.
    editor.driver.add_cookie({name: cookies[0][name] for name in ("name", "value", "path", "secure")})
    editor.open("/console/items")
    editor.expect(editor.path().startswith("/console/sign-in"), "the old cookie")
    editor.report("signed out")


def spend(editor, link, key):
    """Goes through the whole day."""
    sign_in(editor, link, key)
    draft = write(editor, "Night ferry returns", "The ferry is back.", "save")
    editor.expect_notice("saved")
    editor.report("draft", item=draft)
    with tempfile.TemporaryDirectory(prefix="tidings-upload-") as folder:
        upload(editor, draft, folder)
    if editor.javascript:
        autosave(editor, draft)
    schedule(editor, draft, moment(2099))
    published = write(editor, "Fog closes the harbour", "Nothing sails today.", "publish")
    editor.expect_notice("published")
    expect_reader(editor, published, "Fog closes the harbour", "Nothing sails today.")
    editor.report("published", item=published)
    conflict(editor, published)
    expect_reader(editor, published, "Fog closes the port")
    restore(editor, published)
    expect_reader(editor, published, "Fog closes the harbour")
    retract(editor, published, "There was no fog.")
    expect_reader(editor, published, "There was no fog.")
    sign_out(editor)
