"""Chromium, driven by Selenium, with nothing downloaded and nothing left behind."""

import base64
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM = "/usr/bin/chromium"
DRIVER = "/usr/bin/chromedriver"
# The seconds after which a command of the browser has failed. Only a test that fails needs them.
LIMIT = 120


def session_of(process):
    """Returns the session and the process group of a process; None if it has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            # The name of the program, in parentheses, may contain spaces.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[3]), int(fields[2])


def kill_session(session):
    """Kills all processes of a session. Processes that they start meanwhile are found by the next pass."""
    while True:
        found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        found = [process for process in found if (session_of(process) or (0, 0))[0] == session]
        alive = []
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
                with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                    if file.read().rpartition(")")[2].split()[0] not in "ZX":
                        alive.append(process)
            except OSError:
                continue
        if not alive:
            return


class Guard:
    """A process that ends a browser when this process has ended, however it does: it waits for the end of a pipe."""

    def __init__(self, folder):
        reading, self.writing = os.pipe()
        self.process = os.fork()
        if self.process:
            os.close(reading)
            return
        # The output must not stay open after the end of the driver.
        os.setsid()
        os.close(self.writing)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        lines = b""
        while chunk := os.read(reading, 100):
            lines += chunk
        for line in lines.split():
            kill_session(int(line))
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    def watch(self, session):
        os.write(self.writing, b"%d\n" % session)

    def finish(self):
        os.close(self.writing)
        os.waitpid(self.process, 0)


class OwnSession(Service):
    """ChromeDriver in a session of its own, to which the browser belongs too."""

    def __init__(self, guard, environment):
        super().__init__(
            executable_path=DRIVER,
            log_output=os.devnull,
            popen_kw={"start_new_session": True},
            # Neither proxies nor another Chromium's settings.
            env={
                name: os.environ[name]
                for name in ("PATH", "HOME", "TMPDIR", "TIDINGS_WITH_CLUSTER")
                if name in os.environ
            }
            | {"TZ": "Europe/Berlin", "LC_ALL": "C.UTF-8", "LANGUAGE": "en_GB"}
            | environment,
        )
        self.guard = guard

    def start(self):
        super().start()
        self.guard.watch(self.process.pid)


def trust(certificate, hosts):
    """Returns the arguments with which a browser trusts a certificate, and finds hosts as rules say."""
    key = subprocess.run(
        ["openssl", "x509", "-in", certificate, "-noout", "-pubkey"], check=True, capture_output=True, text=True
    ).stdout
    encoded = "".join(line for line in key.splitlines() if not line.startswith("-"))
    digest = base64.b64encode(hashlib.sha256(base64.b64decode(encoded)).digest()).decode()
    return [f"--ignore-certificate-errors-spki-list={digest}", f"--host-resolver-rules={hosts}"]


class Browser:
    """A browser with a new profile, as a context manager whose value is the driver of Selenium.

    Its notifications are shown on a desktop, or nowhere.
    """

    def __init__(self, javascript=True, language="en-GB", width=1400, height=900, arguments=(), desktop=None):
        self.javascript = javascript
        self.language = language
        self.size = f"{width},{height}"
        self.arguments = arguments
        self.desktop = desktop

    def options(self):
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            f"--user-data-dir={self.folder}/profile",
            f"--window-size={self.size}",
            f"--lang={self.language}",
            "--no-proxy-server",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-default-apps",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-gpu",
            "--force-color-profile=srgb",
            *self.arguments,
        ):
            options.add_argument(argument)
        preferences = {"intl.accept_languages": self.language, "credentials_enable_service": False}
        if not self.javascript:
            preferences["profile.managed_default_content_settings.javascript"] = 2
        options.add_experimental_option("prefs", preferences)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        return options

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="tidings-browser-")
        self.guard = Guard(self.folder)
        try:
            environment = {}
            if self.desktop:
                environment["DBUS_SESSION_BUS_ADDRESS"] = self.desktop.start(self.folder, self.guard)
            service = OwnSession(self.guard, environment)
            self.driver = webdriver.Chrome(options=self.options(), service=service)
            self.driver.command_executor.client_config.timeout = LIMIT
            self.driver.set_page_load_timeout(LIMIT)
            self.driver.set_script_timeout(LIMIT)
        except BaseException:
            self.guard.finish()
            raise
        return self.driver

    def __exit__(self, *_):
        try:
            self.driver.quit()
        finally:
            self.guard.finish()


def end_at_signals():
    """Lets the signals that end a program run the ends of context managers."""
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
