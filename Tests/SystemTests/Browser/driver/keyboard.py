"""The console without a pointer."""

from selenium.webdriver.common.keys import Keys

import checks
import day


class Keyboard:
    """A person who uses keys only."""

    def __init__(self, editor):
        self.editor = editor
        self.driver = editor.driver

    def press(self, *keys):
        checks.press(self.driver, *keys)

    def has_focus(self, selector):
        return self.driver.execute_script("return document.activeElement.matches(arguments[0])", selector)

    def tab_to(self, selector, backwards=False):
        for _ in range(200):
            if self.has_focus(selector):
                return
            self.press(*((Keys.SHIFT, Keys.TAB, Keys.NULL) if backwards else (Keys.TAB,)))
        raise day.Failure(f"Tab does not reach {selector}: {self.editor.path()}")

    def enter(self, *keys):
        """Presses Enter or other keys, and waits for the next page."""
        page = self.editor.find("html")
        self.press(*(keys or (Keys.ENTER,)))
        self.editor.leave(page)

    def skip(self, selector):
        """Follows the skip link at the beginning of a page. The next stop is the first control of the content."""
        self.tab_to(".skip")
        box = self.driver.switch_to.active_element.rect
        self.editor.expect(box["y"] >= 0 and box["height"] > 20, "the skip link is visible with the focus")
        self.press(Keys.ENTER)
        self.editor.expect(self.has_focus("#content"), "the skip link leads to the content")
        self.press(Keys.TAB)
        self.editor.expect(self.has_focus(selector), f"the content begins with {selector}")


def sign_in(editor, keyboard, key):
    editor.open("/console/sign-in")
    keyboard.press(Keys.TAB)
    editor.expect(keyboard.has_focus(".skip"), "the first stop is the skip link")
    keyboard.skip("#key")
    keyboard.press(key)
    keyboard.enter()
    editor.expect(editor.has("form.account"), "signed in with Enter")
    editor.report("signed in")


def write(editor, keyboard):
    """Writes an item and publishes it. Returns its id."""
    keyboard.tab_to('header nav a[href$="/console/items"]')
    keyboard.enter()
    keyboard.skip('a[href$="/console/items/new"]')
    keyboard.enter()
    keyboard.tab_to("#text")
    keyboard.press("Enter makes a new line here.", Keys.ENTER, "It does.")
    keyboard.tab_to("#title", backwards=True)
    keyboard.press("Written with keys alone")
    # Enter in a field saves, and neither publishes nor retracts.
    keyboard.enter()
    editor.expect_notice("saved")
    item = editor.item()
    editor.expect(editor.newsroom.item(item)["state"] == "draft", "Enter saves a draft")
    editor.report("draft", item=item)
    keyboard.tab_to("#breaking")
    keyboard.press(Keys.SPACE)
    keyboard.tab_to('.buttons button[value="publish"]')
    keyboard.enter()
    editor.expect_notice("published")
    editor.report("published", item=item, text=editor.value("text"))
    return item


def retract(editor, keyboard, item):
    """Finds an item with the search, and retracts it."""
    editor.open("/console/items")
    if editor.javascript:
        keyboard.press("/")
    else:
        keyboard.tab_to("#search")
    editor.expect(keyboard.has_focus("#search"), "the search")
    keyboard.press("keys alone")
    keyboard.enter()
    editor.expect(editor.text(".rows").count("Written with keys alone") == 1, "the search finds the item")
    keyboard.tab_to(f'.rows a[href$="{item}"]')
    keyboard.enter()
    keyboard.tab_to(f'a[href$="/{item}/retract"]')
    keyboard.enter()
    keyboard.tab_to("#reason")
    keyboard.press("It was only a test.")
    keyboard.tab_to("button.danger")
    keyboard.enter(Keys.SPACE)
    editor.expect_notice("retracted")
    editor.report("retracted", item=item)


def use(editor, link, key):
    keyboard = Keyboard(editor)
    sign_in(editor, keyboard, key)
    item = write(editor, keyboard)
    retract(editor, keyboard, item)
    keyboard.tab_to("form.account button")
    keyboard.enter()
    editor.expect(editor.has("#key"), "signed out")
    editor.report("signed out")
