"""The notifications of a desktop (freedesktop.org), on a bus of their own, and the tools for developers of Chromium."""

import json
import queue
import subprocess
import threading
import urllib.request

import websocket
from jeepney import DBusAddress, HeaderFields, MessageType, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

NAME = "org.freedesktop.Notifications"
# No service is started on this bus.
BUS = """<busconfig>
  <type>session</type>
  <listen>unix:tmpdir={folder}</listen>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class Desktop:
    """Shows notifications to a test, which can click on them."""

    def __init__(self):
        # The notifications that were shown: number, title and text. One that replaces another is added too.
        self.shown = []
        self.clicks = queue.Queue()

    def start(self, folder, guard):
        """Starts a bus, which ends with the browser, and this desktop on it. Returns the address of the bus."""
        configuration = f"{folder}/bus.conf"
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(BUS.format(folder=folder))
        bus = subprocess.Popen(
            ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile", "--print-address=1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        guard.watch(bus.pid)
        address = bus.stdout.readline().strip()
        self.connection = open_dbus_connection(bus=address)
        self.connection.send_and_get_reply(message_bus.RequestName(NAME))
        threading.Thread(target=self.serve, daemon=True).start()
        return address

    def serve(self):
        while True:
            try:
                message = self.connection.receive(timeout=0.05)
            except TimeoutError:
                message = None
            except (OSError, EOFError):
                # The bus has ended with the browser.
                return
            if message and message.header.message_type == MessageType.method_call:
                self.answer(message, message.header.fields.get(HeaderFields.member))
            while not self.clicks.empty():
                self.signal("ActionInvoked", "us", (self.clicks.get(), "default"))

    def answer(self, message, member):
        if member == "GetServerInformation":
            self.connection.send(new_method_return(message, "ssss", ("Test", "Tidings", "1", "1.2")))
        elif member == "GetCapabilities":
            self.connection.send(new_method_return(message, "as", (["actions", "body"],)))
        elif member == "Notify":
            _, replaced, _, title, text, *_ = message.body
            number = replaced or len(self.shown) + 1
            self.connection.send(new_method_return(message, "u", (number,)))
            self.shown.append((number, title, text))
        elif member == "CloseNotification":
            self.connection.send(new_method_return(message))
            self.signal("NotificationClosed", "uu", (message.body[0], 3))

    def signal(self, name, signature, body):
        source = DBusAddress("/org/freedesktop/Notifications", interface=NAME)
        self.connection.send(new_signal(source, name, signature, body))

    def click(self, number):
        self.clicks.put(number)


class DevTools:
    """The tools for developers, beside those of Selenium: they receive events, and reach the service worker."""

    def __init__(self, driver, origin):
        self.origin = origin
        self.last = 0
        self.events = []
        debugger = driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
        with urllib.request.urlopen(f"http://{debugger}/json/version") as response:
            address = json.load(response)["webSocketDebuggerUrl"]
        self.socket = websocket.create_connection(address, suppress_origin=True, timeout=120)
        # Chromium closes a tab with its window, so the first page stays.
        self.page = self.attach("page")

    def call(self, method, session=None, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        self.socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def addresses(self, kind="page"):
        """Returns the addresses of the pages of the server, or of its service workers."""
        targets = self.call("Target.getTargets")["targetInfos"]
        return [target["url"] for target in targets if target["type"] == kind and target["url"].startswith(self.origin)]

    def titles(self, address):
        """Returns the titles of the pages with an address. Until a page is loaded, its title is its address."""
        targets = self.call("Target.getTargets")["targetInfos"]
        return [target["title"] for target in targets if target["type"] == "page" and target["url"] == address]

    def attach(self, kind):
        targets = self.call("Target.getTargets")["targetInfos"]
        found = [target for target in targets if target["type"] == kind and target["url"].startswith(self.origin)]
        return self.call("Target.attachToTarget", targetId=found[0]["targetId"], flatten=True)["sessionId"]

    def registration(self):
        """Returns the id of the service worker's registration; None if Chromium has not reported it yet."""
        self.call("ServiceWorker.enable", self.page)
        for event in self.events:
            if event["method"] == "ServiceWorker.workerRegistrationUpdated":
                for registration in event["params"]["registrations"]:
                    if registration["scopeURL"] == f"{self.origin}/" and not registration["isDeleted"]:
                        return registration["registrationId"]
        return None

    def deliver(self, registration, content):
        """Delivers the content of a push to the service worker."""
        self.call(
            "ServiceWorker.deliverPushMessage",
            self.page,
            origin=self.origin,
            registrationId=registration,
            data=content,
        )

    def run_in_worker(self, script):
        """Runs a script in the service worker and returns its value."""
        session = self.attach("service_worker")
        answer = self.call(
            "Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True
        )
        self.call("Target.detachFromTarget", sessionId=session)
        return answer["result"].get("value")
