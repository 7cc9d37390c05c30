"""Texts that are not saved yet: nothing that was typed is lost, whatever happens meanwhile."""

import json

from selenium.webdriver.common.keys import Keys

import checks
import day
import errors
from newsroom import picture


def dialogs(driver):
    """Returns the number of warnings before a page was left, since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return sum(
        message["method"] == "Page.javascriptDialogOpening" and message["params"]["type"] == "beforeunload"
        for message in messages
    )


def leave(editor):
    """Follows a link of the navigation. ChromeDriver accepts a warning. Returns whether there was one."""
    dialogs(editor.driver)
    editor.click('header nav a[href$="/console/topics"]')
    return dialogs(editor.driver) == 1


def warnings(editor, item):
    """Leaves pages with changes and without."""
    editor.open("/console/items/new")
    editor.expect(not leave(editor), "no warning without a change")
    editor.open("/console/items/new")
    editor.find("#title").send_keys("Not saved")
    editor.expect(leave(editor) == editor.javascript, "a warning before a new text is lost")
    editor.open(f"/console/items/{item}")
    editor.tick("#breaking")
    editor.expect(leave(editor) == editor.javascript, "a warning before a change is lost")
    editor.open(f"/console/items/{item}")
    editor.fill("language", "no language")
    editor.press_button("save")
    editor.expect_status(422)
    editor.expect(leave(editor) == editor.javascript, "a warning before a refused text is lost")
    editor.open(f"/console/items/{item}")
    editor.fill("language", "en")
    dialogs(editor.driver)
    editor.press_button("save")
    editor.expect(dialogs(editor.driver) == 0, "no warning if the text is saved")
    editor.expect(not leave(editor), "no warning after the text is saved")
    editor.report("warned")


def autosave(editor, item):
    """Types into a draft, leaves it without a button once the script has saved it, and finds it again."""
    editor.open(f"/console/items/{item}")
    editor.find("#summary").send_keys("Written and left.")
    editor.wait("the draft is saved", lambda: editor.newsroom.item(item).get("summary") == "Written and left.")
    editor.wait(
        "the revision of the form", lambda: int(editor.value("revision")) == editor.newsroom.item(item)["revision"]
    )
    editor.expect(not leave(editor), "no warning after the script has saved the text")
    editor.open(f"/console/items/{item}")
    editor.expect(editor.value("summary") == "Written and left.", "the draft is there again")
    editor.report("restored", item=item)


def returned(editor, item, what, interrupt):
    """Saves texts while it is not possible, goes back, and saves them again.

    `interrupt` is called with the function that sends the form.
    """
    editor.open(f"/console/items/{item}")
    texts = {"title": f"The title before {what}", "text": f"The text\nbefore {what}."}
    for field, text in texts.items():
        editor.fill(field, text)
    interrupt(lambda: editor.press_button("save"))
    editor.driver.back()
    editor.wait("the editor", lambda: editor.has("#editor"))
    for field, text in texts.items():
        editor.wait(f"the {field} that was typed", lambda: editor.value(field) == text)
    editor.press_button("save")
    editor.expect_notice("saved")
    stored = editor.newsroom.item(item)
    editor.expect([stored["title"], stored["text"]] == list(texts.values()), "the texts are saved")
    editor.report("kept", item=item, name=what)


def sign_in_elsewhere(editor, key):
    """Signs in with a tab of its own."""
    tab = editor.driver.current_window_handle
    editor.driver.switch_to.new_window("tab")
    editor.open("/console/sign-in")
    editor.fill("key", key)
    editor.click("form.stack button")
    editor.driver.close()
    editor.driver.switch_to.window(tab)


def end_of_session(editor, key):
    """Lets the session end in mid-edit. Returns the interruption."""

    def interrupt(send):
        editor.driver.delete_all_cookies()
        send()
        editor.expect_status(403)
        sign_in_elsewhere(editor, key)

    return interrupt


def shown_again(editor, item, key):
    """Sends a form after another session has begun. It is shown again, and can be sent then."""
    editor.open(f"/console/items/{item}")
    editor.fill("text", "Typed in an earlier session.")
    sign_in_elsewhere(editor, key)
    editor.press_button("save")
    editor.expect_status(403)
    editor.expect(editor.value("text") == "Typed in an earlier session.", "the text that was typed")
    editor.expect(editor.newsroom.item(item)["text"] != "Typed in an earlier session.", "nothing is saved yet")
    editor.press_button("save")
    editor.expect_notice("saved")
    editor.expect(editor.newsroom.item(item)["text"] == "Typed in an earlier session.", "the text is saved")
    editor.report("shown again", item=item)


def away_database(editor):
    """Takes the database away in mid-edit. Returns the interruption."""

    def interrupt(send):
        with errors.NoDatabase():
            send()
            editor.expect_status(503)

    return interrupt


class Offline:
    """Takes the network away from the browser."""

    def __init__(self, driver):
        self.driver = driver

    def emulate(self, offline):
        conditions = {"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)

    def __enter__(self):
        self.emulate(True)

    def __exit__(self, *_):
        self.emulate(False)


def expect_reason(editor, reason):
    """Waits until the status has the reason why the text is not saved."""
    sentence = editor.find("#editor").get_attribute(f"data-{reason}")
    editor.wait(f"the reason {reason}", lambda: editor.text("[data-status]") == sentence)


def sent_again(editor, item, what, reason, outage):
    """Saves a text while that is not possible. The editor stays open with the reason, and saves once it is possible."""
    editor.open(f"/console/items/{item}")
    text = f"Typed before {what}."
    with outage:
        editor.fill("text", text)
        editor.find('.buttons button[value="save"]').click()
        expect_reason(editor, reason)
        editor.expect(editor.value("text") == text, "the text is still in the form")
    editor.wait("the notice", lambda: "done=saved" in editor.path())
    editor.expect(editor.newsroom.item(item)["text"] == text, "the text is saved")
    editor.report("sent again", item=item, name=what)


def refused(editor, item):
    """Types what no draft may have, and what someone else has replaced. The status has the reason of each."""
    editor.open(f"/console/items/{item}")
    editor.fill("language", "no language")
    editor.wait("the reason", lambda: "Language" in editor.find("[data-status]").text)
    editor.fill("language", "en")
    editor.wait("the draft is saved", lambda: editor.newsroom.item(item).get("language") == "en")
    editor.newsroom.must("PATCH", f"/v1/editorial/items/{item}", {"author": "Someone else"}, {"If-Match": "*"})
    editor.fill("summary", "Typed in parallel.")
    expect_reason(editor, "conflict")
    editor.report("refused", item=item)


def motion(editor):
    """Checks that nothing moves for people who have asked their system for that."""
    animated = """
      return [...document.querySelectorAll("*")].filter((element) => {
        const style = getComputedStyle(element);
        return [...style.transitionDuration.split(","), ...style.animationDuration.split(",")].some((time) =>
          parseFloat(time) > 0) || style.scrollBehavior === "smooth";
      }).length;
    """
    for path in ("/console/items/new", "/console/files", "/console/live", "/console/sign-in", "/"):
        editor.open(path)
        numbers = []
        for value in ("no-preference", "reduce"):
            feature = {"name": "prefers-reduced-motion", "value": value}
            editor.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            numbers.append(editor.driver.execute_script(animated))
        editor.expect(numbers[1] == 0, f"{numbers[1]} elements move")
        editor.expect(numbers[0] > 0 or not path.startswith("/console"), "without the wish, something moves")
    editor.report("still")


def focus_after_errors(editor):
    """Sends a form with faults. The focus is on their list, whose links lead to the fields, in the order of Tab."""
    editor.open("/console/items/new")
    editor.fill("language", "no language")
    editor.fill("url", "nowhere")
    editor.press_button("schedule")
    errors.expect_errors(editor, ["language", "url"])
    has_focus = "return document.activeElement.matches(arguments[0])"
    editor.expect(
        editor.driver.execute_script(has_focus, "#problem") == editor.javascript, "the focus is on the list of faults"
    )
    stops, faults = checks.tab_stops(editor.driver)
    editor.expect(faults == [], f"{faults}")
    names = [stop.get_attribute("id") for stop in stops]
    order = [name for name in names if name in ("language", "url", "publishAt")]
    editor.expect(order == ["language", "url", "publishAt"], f"the order {names}")
    for name in ("language", "url"):
        link = editor.find(f'#problem a[href="#{name}"]')
        editor.driver.execute_script("arguments[0].focus()", link)
        checks.press(editor.driver, Keys.ENTER)
        editor.expect(editor.driver.execute_script(has_focus, f"#{name}"), f"the link leads to {name}")
    editor.report("focused")


def use(editor, link, key):
    day.sign_in(editor, link, key)
    item = day.write(editor, "Night ferry returns", "The ferry is back.", "save")
    editor.newsroom.must("POST", "/v1/editorial/media", picture(), {"Content-Type": "image/png"})
    warnings(editor, item)
    returned(editor, item, "the end of the session", end_of_session(editor, key))
    if editor.javascript:
        autosave(editor, item)
        sent_again(editor, item, "the absence of the database", "server", errors.NoDatabase())
        sent_again(editor, item, "the absence of the network", "offline", Offline(editor.driver))
        refused(editor, item)
    else:
        returned(editor, item, "the absence of the database", away_database(editor))
    shown_again(editor, item, key)
    focus_after_errors(editor)
    motion(editor)
