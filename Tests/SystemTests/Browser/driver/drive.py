"""Drives a browser through the console.

drive.py SCENARIO, with the address of the console in TIDINGS_BROWSER_ADDRESS, that of the API in TIDINGS_BROWSER_API,
a key in TIDINGS_BROWSER_KEY, a sign-in link in TIDINGS_BROWSER_LINK, and the folder of the pictures in
TIDINGS_BROWSER_PICTURES. With TIDINGS_BROWSER_JAVASCRIPT=false, scripts are off. For https, TIDINGS_BROWSER_CERTIFICATE
is the file of the certificate, and TIDINGS_BROWSER_HOSTS has the rules by which Chromium finds its host. Prints a line
of JSON for each step. Ends with status 1 and a sentence at the first step that fails.
"""

import functools
import json
import os
import sys

import checks
import day
import drops
import faults
import keyboard
import notifications
import pages
import rights
import secure
import unsaved
from browser import Browser, end_at_signals, trust
from desktop import Desktop
from newsroom import Newsroom


def setting(name):
    return os.environ["TIDINGS_BROWSER_" + name]


def report(step, **values):
    print(json.dumps({"step": step} | values), flush=True)


def main():
    desktop = Desktop()
    scenarios = {
        "crowd": lambda editor, link, key: notifications.crowd(editor, desktop),
        "day": day.spend,
        "drops": drops.use,
        "faults": faults.find,
        "glance": functools.partial(pages.visit_all, is_brief=True),
        "keyboard": keyboard.use,
        "notifications": lambda editor, link, key: notifications.use(editor, desktop),
        "pages": pages.visit_all,
        "rights": rights.use,
        "secure": secure.use,
        "unsaved": unsaved.use,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in scenarios:
        raise SystemExit(__doc__)
    end_at_signals()
    # All requests are to this machine.
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    javascript = os.environ.get("TIDINGS_BROWSER_JAVASCRIPT") != "false"
    address, key, pictures = setting("ADDRESS"), setting("KEY"), setting("PICTURES")
    # axe-core is a script. Where it checks pages without scripts, only those of the pages are blocked.
    is_blocking = not javascript and sys.argv[1] == "pages"
    certificate = os.environ.get("TIDINGS_BROWSER_CERTIFICATE")
    arguments = trust(certificate, setting("HOSTS")) if certificate else []
    shown = desktop if sys.argv[1] in ("crowd", "notifications") else None
    with Browser(javascript=javascript or is_blocking, arguments=arguments, desktop=shown) as driver:
        # A cache would hide requests.
        driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
        if is_blocking:
            driver.execute_cdp_cmd("Network.enable", {})
            driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*.js"]})
        editor = day.Editor(driver, address, Newsroom(setting("API"), key), javascript, report)
        editor.pictures = pictures
        try:
            scenarios[sys.argv[1]](editor, setting("LINK"), key)
        except Exception as error:
            checks.screenshot(driver, os.path.join(pictures, f"failure-{sys.argv[1]}.png"))
            if isinstance(error, day.Failure):
                raise SystemExit(f"drive.py: {error}") from error
            raise


main()
