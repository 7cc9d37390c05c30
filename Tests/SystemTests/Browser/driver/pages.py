"""All pages, each checked and pictured."""

from selenium.webdriver.common.by import By

import checks
import day
from newsroom import sample_feed


class Inspector:
    """Checks pages and reports the result of each."""

    def __init__(self, editor):
        self.editor = editor
        self.driver = editor.driver

    def check(self, name):
        """Checks the page that is shown."""
        result = checks.inspect(self.driver, self.editor.address, name, self.editor.pictures)
        stops, faults = checks.keyboard(self.driver)
        result["faults"] += [f"keyboard: {fault}" for fault in faults]
        result["stops"] = stops
        self.editor.report(**result)

    def visit(self, name, path):
        checks.requested(self.driver)
        self.editor.open(path)
        if path == "/console/live" and self.editor.javascript:
            watch(self.editor)
        self.check(name)


def visit_all(editor, link, key):
    inspector = Inspector(editor)
    signing_in(editor, inspector, link, key)
    inspector.visit("first-run", "/console/first-run")
    for name, path in sections(editor):
        inspector.visit(f"{name}-empty", path)
    ids = editor.newsroom.fill()
    for name, path in sections(editor):
        inspector.visit(name, path)
    lists(editor, inspector)
    items(editor, inspector, ids)
    topics(editor, inspector)
    subscriptions(editor, inspector, ids)
    keys(editor, inspector)
    readers(inspector, ids)
    ended(editor, inspector, ids)


def sections(editor):
    """Returns the names and paths of the parts of the console, as its navigation has them."""
    editor.open("/console/sessions")
    links = editor.driver.find_elements(By.CSS_SELECTOR, "header nav a")
    paths = [link.get_attribute("href").removeprefix(editor.address) for link in links]
    editor.expect("/console/items" in paths and "/console/files" in paths, "the navigation")
    return [(path.removeprefix("/console/").replace("/", "-") or "start", path) for path in paths]


def signing_in(editor, inspector, link, key):
    inspector.visit("sign-in", "/console/sign-in")
    editor.fill("key", "tid_not-a-key")
    editor.click("form.stack button")
    inspector.check("sign-in-refused")
    inspector.visit("link", "/console/link")
    editor.fill("code", "not-a-code")
    editor.click("#link button")
    inspector.check("link-refused")
    # Only the fragment differs from the last address, so the browser would not load the page.
    editor.open("/console/sign-in")
    day.sign_in(editor, link, key)


def watch(editor):
    """Waits until the live page has been refreshed, which leaves the focus where it is, and pauses it."""

    def script(text):
        return editor.driver.execute_script(text)

    time = script(
        "document.querySelector('#live summary').focus(); return document.querySelector('#live time').dateTime"
    )
    editor.wait("the page is refreshed", lambda: script("return document.querySelector('#live time').dateTime") != time)
    editor.expect(script("return document.activeElement.matches('#live summary')"), "the focus stays")
    editor.find("#live-pause").click()


def lists(editor, inspector):
    for name, path in [
        ("items-filtered", "/console/items?q=ferry&topic=harbour"),
        ("items-nothing-found", "/console/items?q=zeppelin"),
        ("items-scheduled", "/console/items?state=scheduled"),
        ("files-unused", "/console/files?used=no"),
        ("not-found", "/console/nowhere"),
        ("no-item", "/console/items/018f3a5e-0000-7000-8000-000000000000"),
        ("bad-request", "/console/items?nothing=1"),
    ]:
        inspector.visit(name, path)
    editor.open("/console/items")
    older = editor.driver.find_elements(By.CSS_SELECTOR, ".pager a[rel=next]")
    if older:
        inspector.visit("items-older", older[0].get_attribute("href").removeprefix(editor.address))


def items(editor, inspector, ids):
    for name, identifier in [
        ("editor-new", "new"),
        ("editor-draft", ids["draft"]),
        ("editor-review", ids["review"]),
        ("editor-scheduled", ids["scheduled"]),
        ("editor-published", ids["breaking"]),
        ("editor-retracted", ids["wrong"]),
        ("editor-arabic", ids["arabic"]),
        ("history", f"{ids['breaking']}/history"),
        ("retract", f"{ids['breaking']}/retract"),
        ("erase", f"{ids['breaking']}/erase"),
        ("preview", f"{ids['breaking']}/preview"),
    ]:
        inspector.visit(name, f"/console/items/{identifier}")

    editor.open("/console/items/new")
    editor.fill("language", "not a language")
    editor.fill("url", "nowhere")
    editor.press_button("schedule")
    inspector.check("editor-errors")

    editor.open(f"/console/items/{ids['breaking']}")
    editor.newsroom.change(
        ids["breaking"], title="Fog closes the airport", text="The airport is closed.\n\nNothing flies."
    )
    editor.fill("title", "Fog closes everything")
    editor.press_button("save")
    inspector.check("conflict")


def topics(editor, inspector):
    inspector.visit("topic", "/console/topics/council/edit")
    inspector.visit("topic-removal", "/console/topics/sport/remove")
    inspector.visit("topic-new", "/console/new-topic")
    editor.fill("slug", "Not a slug")
    editor.click("#topic button.primary")
    inspector.check("topic-errors")


def subscriptions(editor, inspector, ids):
    identifier = ids["subscription"]
    inspector.visit("subscription", f"/console/subscriptions/{identifier}")
    inspector.visit("subscription-removal", f"/console/subscriptions/{identifier}/remove")
    inspector.visit("subscription-new", "/console/subscriptions/new")
    with sample_feed() as address:
        editor.fill("url", address)
        editor.click('#subscription button[value="preview"]')
        editor.expect(editor.has(".preview .rows"), "the preview of the feed")
        inspector.check("subscription-preview")
    editor.fill("url", "nowhere")
    editor.click('#subscription button[value="preview"]')
    inspector.check("subscription-errors")


def keys(editor, inspector):
    inspector.visit("key-new", "/console/keys/new")
    # A blank name passes the check of the browser.
    editor.fill("name", " ")
    editor.click("#key button.primary")
    inspector.check("key-errors")
    editor.fill("name", "anna")
    editor.find('#key input[name="scopes"]').click()
    editor.click("#key button.primary")
    editor.expect(editor.has(".secret"), "the secret")
    inspector.check("key-secret")
    for name in ("rotate", "revoke"):
        editor.open("/console/keys")
        path = editor.find(f'a[href$="/{name}"]').get_attribute("href").removeprefix(editor.address)
        inspector.visit(f"key-{name}", path)


def readers(inspector, ids):
    for name, path in [
        ("reader", "/"),
        ("reader-topic", "/topics/harbour"),
        ("reader-item", f"/items/{ids['breaking']}"),
        ("reader-gone", f"/items/{ids['wrong']}"),
        ("reader-not-found", "/items/nothing"),
    ]:
        inspector.visit(name, path)


def ended(editor, inspector, ids):
    """Sends a form after the end of the session."""
    editor.open(f"/console/items/{ids['draft']}")
    editor.driver.delete_all_cookies()
    checks.requested(editor.driver)
    editor.press_button("save")
    inspector.check("session-ended")
