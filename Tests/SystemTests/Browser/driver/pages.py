"""All pages, each checked and pictured."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

import checks
import day
import errors
from newsroom import sample_feed


class Inspector:
    """Checks pages and reports the result of each.

    If it is brief, it checks them at the smallest width and with light colours only, and without the Tab key.
    """

    def __init__(self, editor, is_brief=False):
        self.editor = editor
        self.driver = editor.driver
        self.is_brief = is_brief

    def check(self, name):
        """Checks the page that is shown."""
        widths, schemes = (checks.WIDTHS[:1], checks.SCHEMES[:1]) if self.is_brief else (checks.WIDTHS, checks.SCHEMES)
        result = checks.inspect(self.driver, self.editor.address, name, self.editor.pictures, widths, schemes)
        if not self.is_brief:
            result["stops"], faults = checks.keyboard(self.driver)
            result["faults"] += [f"keyboard: {fault}" for fault in faults]
        self.editor.report(**result)

    def visit(self, name, path):
        checks.requested(self.driver)
        self.editor.open(path)
        if path == "/console/live" and self.editor.javascript:
            watch(self.editor)
        self.check(name)


def visit_all(editor, link, key, is_brief=False):
    inspector = Inspector(editor, is_brief)
    signing_in(editor, inspector, link, key)
    inspector.visit("first-run", "/console/first-run")
    for name, path in sections(editor):
        inspector.visit(f"{name}-empty", path)
    ids = editor.newsroom.fill()
    for name, path in sections(editor):
        inspector.visit(name, path)
    menu(editor)
    lists(editor, inspector)
    items(editor, inspector, ids)
    topics(editor, inspector)
    pushes(editor, inspector, ids)
    subscriptions(editor, inspector, ids)
    webhooks(editor, inspector, ids)
    lesser = keys(editor, inspector)
    errors.visit(editor, inspector, ids)
    readers(inspector, ids)
    ended(editor, inspector, ids)
    errors.refusals(editor, inspector, lesser)
    errors.too_many_attempts(editor, inspector)


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


def menu(editor):
    """Opens the menu of a small screen, and goes to another part."""
    editor.open("/console/items")
    checks.resize(editor.driver, checks.WIDTHS[0])
    link = 'header nav a[href$="/console/topics"]'
    editor.expect(not editor.find(link).is_displayed(), "the menu is closed")
    editor.find(".open-menu").click()
    faults = checks.violations(editor.driver) + checks.overflow(editor.driver)
    editor.expect(not faults, f"the menu has no faults: {faults}")
    checks.screenshot(editor.driver, f"{editor.pictures}/menu.png")
    editor.click(link)
    editor.expect(editor.path() == "/console/topics", "the page of the link")
    checks.resize(editor.driver, checks.WIDTHS[-1])
    editor.expect(editor.find(link).is_displayed(), "on a large screen, the menu is open")


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
    editor.press_button("withdraw")
    inspector.check("withdrawal")

    editor.open(f"/console/items/{ids['breaking']}")
    editor.newsroom.change(
        ids["breaking"], title="Fog closes the airport", text="The airport is closed.\n\nNothing flies.", html=None
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


def pushes(editor, inspector, ids):
    """Visits the pages of pushes, and alerts to an item. The push service does not answer."""
    device = {"provider": "fcm", "token": "device-1", "alerts": True}
    editor.newsroom.must("POST", "/v1/devices", device)
    path = f"/console/items/{ids['breaking']}/alert"
    inspector.visit("alert", path)
    editor.click("form.stack button.primary")
    inspector.check("alert-asked")
    link = 'a[href*="/console/pushes/"]'

    def is_made():
        editor.open(path)
        return editor.has(link)

    editor.wait("the alert is made", is_made)
    inspector.visit("push", editor.find(link).get_attribute("href").removeprefix(editor.address))
    inspector.visit("pushes-alerts", "/console/pushes")


def webhooks(editor, inspector, ids):
    path = f"/console/webhooks/{ids['webhook']}"

    def has_attempt():
        editor.open(path)
        return editor.has("summary")

    checks.requested(editor.driver)
    editor.wait("the host of the webhook is not found", has_attempt)
    editor.find("summary").click()
    inspector.check("webhook")
    for name in ("edit", "rotate", "remove"):
        inspector.visit(f"webhook-{name}", f"{path}/{name}")
    inspector.visit("webhook-new", "/console/webhooks/new")
    editor.fill("url", "nowhere")
    editor.click("#webhook button.primary")
    inspector.check("webhook-errors")
    editor.fill("url", "https://search.invalid/")
    editor.click("#webhook button.primary")
    editor.expect(editor.has(".secret"), "the secret")
    inspector.check("webhook-secret")


def expect_zone(editor):
    """Checks that the expiry of a key is typed in the browser's zone, and sent in UTC."""
    editor.expect("Europe/Berlin" in editor.text("#expires-hint"), "the zone of the expiry")
    editor.set_time("expires", day.moment(2099))
    sent = editor.driver.execute_script("return new FormData(document.querySelector('#key')).get('expires')")
    editor.expect(sent == "2099-05-01T10:30", f"the expiry {sent} in UTC")


def click_twice(editor, selector):
    """Clicks twice on a button that leads to another page. The second click has no effect."""
    page, button = editor.find("html"), editor.find(selector)
    editor.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    ActionChains(editor.driver).double_click(button).perform()
    editor.leave(page)


def keys(editor, inspector):
    """Visits the pages of keys. Returns a new key that may not do everything."""
    inspector.visit("key-new", "/console/keys/new")
    # A blank name passes the check of the browser.
    editor.fill("name", " ")
    editor.click("#key button.primary")
    inspector.check("key-errors")
    editor.fill("name", "anna")
    editor.find('#key input[name="scopes"]').click()
    if editor.javascript:
        expect_zone(editor)
        click_twice(editor, "#key button.primary")
    else:
        editor.click("#key button.primary")
    editor.expect(editor.has(".secret"), "the secret")
    secret = editor.text(".secret code")
    inspector.check("key-secret")
    for name in ("rotate", "revoke"):
        editor.open("/console/keys")
        path = editor.find(f'a[href$="/{name}"]').get_attribute("href").removeprefix(editor.address)
        inspector.visit(f"key-{name}", path)
    return secret


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
