"""The pages of errors."""

import os
import subprocess
import urllib.parse

from selenium.webdriver.common.by import By

import checks
import day

# Sends many forms to sign in at once, waits for the answers, and then sends the form of the page.
ATTEMPTS = """
  const form = document.querySelector("form.stack");
  form.elements.key.value = "tid_wrong";
  const attempt = () => fetch("/console/sign-in", {method: "POST", body: new URLSearchParams(new FormData(form))});
  Promise.allSettled(Array.from({length: 30}, attempt)).then(() => form.submit());
"""


def check(inspector, name, status):
    """Checks the page that is shown, which has the status of an error."""
    inspector.editor.expect_status(status)
    inspector.check(name)


def visit(editor, inspector, ids):
    """Visits the errors of a session."""
    foreign_form(editor, inspector)
    outdated(editor, inspector, ids)
    refused_fields(editor, inspector)


def foreign_form(editor, inspector):
    """Sends a form from a page of another origin."""
    page = f'<form method=post action="{editor.address}/console/sign-out"><button>Send</button></form>'
    editor.driver.get("data:text/html," + urllib.parse.quote(page))
    checks.requested(editor.driver)
    editor.click("button")
    check(inspector, "foreign-form", 403)


def outdated(editor, inspector, ids):
    """Sends forms whose pages are older than a change of someone else."""
    newsroom = editor.newsroom
    editor.open(f"/console/items/{ids['breaking']}/history")
    newsroom.change(ids["breaking"], author="Somebody else")
    editor.click('form[action$="/history/1/restore"] button')
    check(inspector, "changed", 412)

    editor.open(f"/console/items/{ids['review']}/retract")
    newsroom.change(ids["review"], author="Somebody else")
    editor.fill("reason", "It was postponed.")
    editor.click("button.danger")
    editor.expect(editor.find("#reason").get_property("value") == "It was postponed.", "the reason that was typed")
    check(inspector, "retract-changed", 412)

    editor.open(f"/console/items/{ids['review']}")
    newsroom.must("DELETE", f"/v1/editorial/items/{ids['review']}", headers={"If-Match": "*"})
    editor.fill("author", "Anna")
    editor.press_button("save")
    editor.expect(editor.value("author") == "Anna", "the text that was typed")
    check(inspector, "editor-gone", 410)

    # A feed that someone else pauses meanwhile cannot be read at once.
    path = f"/v1/editorial/subscriptions/{ids['subscription']}"
    pause = 'form[action$="/pause"] button'
    editor.open("/console/subscriptions")
    editor.click(pause)
    _, headers, _ = newsroom.send("GET", path)
    newsroom.must(
        "PATCH",
        path,
        b'{"paused": true}',
        {"If-Match": headers["ETag"], "Content-Type": "application/merge-patch+json"},
    )
    editor.click('form[action$="/poll"] button')
    check(inspector, "paused", 409)


def refused_fields(editor, inspector):
    """Sends an item with a fault in each field that can have one."""
    editor.open("/console/items/new")
    for field, text in [("title", "Kept"), ("language", "no language"), ("url", "nowhere"), ("author", "A" * 3000)]:
        editor.fill(field, text)
    editor.set_time("publishAt", day.moment(2099))
    editor.set_time("expireAt", day.moment(2098))
    editor.press_button("schedule")
    expect_errors(editor, ["language", "author", "url"])
    editor.expect(editor.value("title") == "Kept", "the text that was typed")
    check(inspector, "editor-many-errors", 422)


def expect_errors(editor, fields):
    """Checks that fields are marked, and that each names its error, which is not empty."""
    marked = editor.driver.find_elements(By.CSS_SELECTOR, '[aria-invalid="true"]')
    names = [field.get_attribute("name") or field.get_attribute("id") for field in marked]
    editor.expect(set(fields) <= set(names), f"only {names} are marked")
    for field in marked:
        texts = [editor.text(f"#{name}") for name in field.get_attribute("aria-describedby").split()]
        editor.expect(len(texts) > 0 and all(texts), f"{field.get_attribute('id')} names its error")
    editor.expect(editor.has('.note.bad[role="alert"]'), "the sentence at the top")


def refusals(editor, inspector, key):
    """Opens a page that a key does not allow, and one while the database is away."""
    editor.driver.delete_all_cookies()
    editor.open("/console/sign-in")
    editor.fill("key", key)
    editor.click("form.stack button")
    checks.requested(editor.driver)
    editor.open("/console/keys")
    check(inspector, "forbidden", 403)
    with NoDatabase():
        checks.requested(editor.driver)
        editor.open("/console/items")
        check(inspector, "no-database", 503)
        editor.open("/topics/sport")
        check(inspector, "reader-no-database", 503)


def too_many_attempts(editor, inspector):
    """Signs in again and again, until the server refuses it."""
    editor.driver.delete_all_cookies()
    # The server allows another attempt every six seconds, which may pass on a busy machine.
    for _ in range(20):
        editor.open("/console/sign-in")
        page = editor.find("html")
        editor.driver.execute_script(ATTEMPTS)
        editor.leave(page)
        if not editor.has("#key"):
            break
    check(inspector, "sign-in-limit", 429)


class NoDatabase:
    """Closes the database of the server to everybody, as a context manager."""

    def __init__(self):
        url = urllib.parse.urlsplit(os.environ["DATABASE_URL"])
        self.name = url.path[1:]
        self.url = url._replace(path="/postgres").geturl()

    def execute(self, *statements):
        options = [option for statement in statements for option in ("-c", statement)]
        command = ["psql", self.url, "-qX", "-v", "ON_ERROR_STOP=1", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def __enter__(self):
        self.execute(
            f'ALTER DATABASE "{self.name}" ALLOW_CONNECTIONS false',
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self.name}'",
        )

    def __exit__(self, *_):
        self.execute(f'ALTER DATABASE "{self.name}" ALLOW_CONNECTIONS true')
