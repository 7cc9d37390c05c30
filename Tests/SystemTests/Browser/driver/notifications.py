"""A reader who asks for notifications on a page, receives them, clicks on them, and ends them.

TIDINGS_BROWSER_FOLDER is a folder that is shared with the test. Its files `message-N.json` are what the push service
has received, decrypted. The driver adds a file `STEP.done` after a step, and the test a file `STEP.checked` once it has
looked into the database. TIDINGS_BROWSER_SUBSCRIPTIONS has two subscriptions at the push service.
"""

import json
import os
import time

import checks
from browser import LIMIT
from desktop import DevTools

# A push service that Chromium reaches without Google, in place of its own. Everything else is Chromium's.
PUSH_SERVICE = """
  if (location.protocol.startsWith("http")) {
    const stored = () => localStorage.getItem("test-key");
    const subscription = {
      toJSON: () => (SUBSCRIPTION),
      unsubscribe: async () => { localStorage.removeItem("test-key"); return true; },
    };
    PushManager.prototype.getSubscription = async () => stored() && subscription;
    PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
      if (!userVisibleOnly) throw new Error("Chromium refuses silent pushes");
      localStorage.setItem("test-key", applicationServerKey);
      return subscription;
    };
  }
"""
ON = "Notifications are on."


class Reader:
    """A reader at a browser, whose pushes the test delivers."""

    def __init__(self, editor, desktop):
        self.editor = editor
        self.driver = editor.driver
        self.desktop = desktop
        self.folder = os.environ["TIDINGS_BROWSER_FOLDER"]
        self.messages = 0
        self.subscriptions = json.loads(os.environ["TIDINGS_BROWSER_SUBSCRIPTIONS"])

    def start(self):
        source = PUSH_SERVICE.replace("SUBSCRIPTION", json.dumps(self.subscriptions[0]))
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        self.editor.open("/")
        self.tools = DevTools(self.driver, self.editor.address)

    def permit(self, setting):
        self.driver.execute_cdp_cmd(
            "Browser.setPermission",
            {"permission": {"name": "notifications"}, "setting": setting, "origin": self.editor.address},
        )

    def until(self, what, condition):
        """Waits for something outside of the page. Returns its value."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if value := condition():
                return value
            time.sleep(0.05)
        self.editor.expect(False, what)

    def checked(self, step):
        """Reports a step, and waits until the test has looked into the database."""
        self.editor.report(step)
        with open(os.path.join(self.folder, f"{step}.done"), "x", encoding="utf-8"):
            pass
        file = os.path.join(self.folder, f"{step}.checked")
        self.until(f"the test has checked {step}", lambda: os.path.exists(file))

    def open(self, path):
        self.editor.open(path)
        self.editor.wait("the button", lambda: self.button().is_displayed() and self.button().is_enabled())

    def button(self):
        return self.editor.find("#notify button")

    def status(self):
        return self.editor.text("#notify [role=status]")

    def press(self, status):
        """Presses the button, and waits until the page says something."""
        self.button().click()
        self.editor.wait(f"“{status}”", lambda: self.button().is_enabled() and self.status() == status)

    def receive(self):
        """Waits for the next message to the push service. Returns its content."""
        self.messages += 1
        file = os.path.join(self.folder, f"message-{self.messages}.json")
        self.until(f"message {self.messages}", lambda: os.path.exists(file))
        with open(file, encoding="utf-8") as content:
            return content.read()

    def deliver(self, content, title):
        """Delivers a push, and waits for its notification. Returns its number and text."""
        count = len(self.desktop.shown)
        registration = self.until("the registration of the service worker", self.tools.registration)
        self.tools.deliver(registration, content)
        self.until("a notification", lambda: len(self.desktop.shown) > count)
        number, shown, text = self.desktop.shown[-1]
        self.editor.expect(shown == title, f"the title “{shown}” of the notification")
        return number, text

    def notifications(self):
        """Returns the titles of the notifications that are shown, as the service worker sees them."""
        return self.tools.run_in_worker(
            "registration.getNotifications().then((all) => all.map((notification) => notification.title))"
        )


def refusals(reader):
    """Meets a browser that blocks notifications, and a server that cannot be reached. Nothing is registered."""
    reader.permit("denied")
    reader.open("/topics/harbour")
    reader.press("Your browser blocks notifications of this site. You can allow them in its settings.")
    reader.permit("granted")
    network = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    reader.driver.execute_cdp_cmd("Network.enable", {})
    reader.driver.execute_cdp_cmd("Network.emulateNetworkConditions", network)
    reader.press("The server does not respond. Please try again later.")
    reader.driver.execute_cdp_cmd("Network.emulateNetworkConditions", network | {"offline": False})
    checks.complaints(reader.driver)
    reader.checked("refused")


def subscribe(reader):
    """Asks for the news of a topic, and confirms the registration by its first push."""
    editor = reader.editor
    reader.open("/topics/harbour")
    reader.press(ON)
    editor.expect(reader.button().text == "Stop notifications", "the button ends what it has begun")
    key = editor.driver.execute_script("return localStorage.getItem('test-key')")
    editor.expect(key == editor.newsroom.must("GET", "/v1/push")["webPush"]["publicKey"], f"the key {key}")
    checks.resize(editor.driver, checks.WIDTHS[0])
    faults = checks.violations(editor.driver) + checks.overflow(editor.driver) + checks.complaints(editor.driver)
    editor.expect(not faults, f"the page has no faults: {faults}")
    checks.screenshot(editor.driver, f"{editor.pictures}/notifications.png")
    checks.resize(editor.driver, checks.WIDTHS[-1])
    reader.checked("subscribed")
    reader.deliver(reader.receive(), ON)
    reader.checked("confirmed")


def alert(reader):
    """Receives an alert, and opens its item by a click."""
    editor = reader.editor
    fields = {"title": "Night ferry <b>returns</b>", "text": "It calls at the old pier again.", "topics": ["harbour"]}
    identifier = editor.newsroom.must("POST", "/v1/editorial/items", fields | {"push": {"alert": True}})["id"]
    content = reader.receive()
    number, text = reader.deliver(content, fields["title"])
    editor.expect(text.endswith(fields["text"]), f"the text “{text}” of the notification")
    # A message that arrives twice replaces its notification.
    number, _ = reader.deliver(content, fields["title"])
    editor.expect(reader.notifications().count(fields["title"]) == 1, "one notification of the item")
    page = f"{editor.address}/items/{identifier}"
    reader.desktop.click(number)
    # A page that is still loading is none to the service worker.
    reader.until("the page of the item", lambda: any(fields["title"] in title for title in reader.tools.titles(page)))
    reader.until("the notification is closed", lambda: fields["title"] not in reader.notifications())
    # A click on another notification of the item shows the page that is open.
    number, _ = reader.deliver(content, fields["title"])
    reader.desktop.click(number)
    reader.until("the notification is closed", lambda: fields["title"] not in reader.notifications())
    editor.expect(reader.tools.addresses().count(page) == 1, "the item has one page")
    editor.report("opened", item=identifier)


def unusual(reader):
    """Receives pushes that have nothing to show, or an address that is not for browsers."""
    reader.deliver("{}", "There is news.")
    reader.deliver("not JSON", "There is news.")
    # Without an item, a click leads to the address of the push, if a browser can open it.
    for url, target in [
        ("javascript:alert(1)", f"{reader.editor.address}/"),
        ("https://elsewhere.example/ferry", "https://elsewhere.example/ferry"),
    ]:
        reader.deliver(json.dumps({"title": url, "url": url}), url)
        found = reader.tools.run_in_worker(
            "registration.getNotifications().then((all) => all.map((notification) => notification.data))"
        )
        reader.editor.expect(target in found, f"the targets {found} of clicks")
    reader.editor.report("shown")


def follow(reader):
    """Adds a topic and takes it away, follows everything, and gets another subscription from the browser."""
    editor = reader.editor
    reader.open("/topics/sport")
    editor.expect(reader.status() == "" and reader.button().text == "Notify me", "another topic is not followed")
    reader.press(ON)
    reader.checked("added")
    reader.press("")
    reader.checked("taken away")
    reader.open("/")
    reader.press(ON)
    reader.checked("everything")
    reader.open("/topics/sport")
    editor.expect(reader.status() == "You receive notifications about all topics.", "the topic is included")
    change = "Object.assign(new ExtendableEvent('pushsubscriptionchange'), {newSubscription: {toJSON: () => (OTHER)}})"
    reader.tools.run_in_worker(f"dispatchEvent({change.replace('OTHER', json.dumps(reader.subscriptions[1]))})")
    reader.checked("changed")


def stop(reader):
    editor = reader.editor
    reader.open("/topics/harbour")
    reader.press("")
    editor.expect(reader.button().text == "Notify me", "the button begins again")
    reader.checked("stopped")
    # A reader who withdraws the permission ends the registration with the next visit.
    reader.press(ON)
    reader.checked("subscribed again")
    reader.permit("denied")
    reader.open("/")
    editor.expect(reader.status() == "", "nothing is followed")
    reader.checked("withdrawn")
    faults = checks.complaints(editor.driver)
    editor.expect(not faults, f"no complaints: {faults}")


def use(editor, desktop):
    for slug in ("harbour", "sport"):
        editor.newsroom.must("POST", "/v1/editorial/topics", {"slug": slug, "titles": {"en": slug.capitalize()}})
    reader = Reader(editor, desktop)
    reader.start()
    refusals(reader)
    subscribe(reader)
    alert(reader)
    unusual(reader)
    follow(reader)
    stop(reader)


def crowd(editor, desktop):
    """Meets a server that accepts no more registrations."""
    reader = Reader(editor, desktop)
    reader.start()
    reader.permit("granted")
    reader.open("/")
    for _ in range(2):
        editor.newsroom.send("POST", "/v1/devices", {})
    reader.press("Too many requests at the moment. Please try again in ten minutes.")
    editor.expect(reader.button().text == "Notify me", "the reader may try again")
    reader.checked("refused")
