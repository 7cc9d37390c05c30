"""The console over https, at a public address behind a proxy with TLS."""

import tempfile

import checks
import day
import pages
import rights


def cookies(editor, address=None):
    """Returns the cookies that the browser would send to an address, with all their attributes."""
    return editor.driver.execute_cdp_cmd("Network.getCookies", {"urls": [address or editor.address]})["cookies"]


def expect_cookie(editor):
    """Checks the cookie of the session. Returns its value."""
    found = cookies(editor)
    editor.expect(len(found) == 1, f"the cookies {found}")
    cookie = found[0]
    expected = {
        "name": "__Host-tidings",
        # A cookie with the attribute Domain would have a dot before the host.
        "domain": "news.example",
        "path": "/",
        "secure": True,
        "httpOnly": True,
        "sameSite": "Lax",
        "session": False,
        "sourceScheme": "Secure",
    }
    editor.expect({name: cookie.get(name) for name in expected} == expected, f"the cookie {cookie}")
    editor.expect(cookies(editor, "http://news.example/console/items") == [], "no cookie for plain http")
    editor.expect(editor.driver.execute_script("return document.cookie") == "", "scripts see no cookie")
    return cookie["value"]


def expect_encrypted(editor):
    """Checks that all requests since the last check went to the public address."""
    addresses = checks.requested(editor.driver)
    editor.expect(addresses and not checks.foreign(addresses, editor.address), f"the requests {addresses}")


def use(editor, link, key):
    editor.driver.get("http://news.example/console/items")
    editor.expect(editor.path().startswith("/console/sign-in"), "plain http leads to the public address")
    editor.expect(cookies(editor) == [], "no cookie before signing in")
    checks.requested(editor.driver)

    day.sign_in(editor, link, key)
    first = expect_cookie(editor)
    item = day.write(editor, "Night ferry returns", "The ferry is back.", "save")
    with tempfile.TemporaryDirectory(prefix="tidings-upload-") as folder:
        day.upload(editor, item, folder)
    editor.open("/console/live")
    if editor.javascript:
        pages.watch(editor)
    expect_encrypted(editor)
    day.sign_out(editor)
    editor.driver.delete_all_cookies()

    rights.sign_in(editor, key)
    editor.expect(expect_cookie(editor) != first, "another session has another cookie")
    editor.click("form.account button")
    editor.expect(cookies(editor) == [], "no cookie after signing out")
    expect_encrypted(editor)
    editor.report("signed out again")
