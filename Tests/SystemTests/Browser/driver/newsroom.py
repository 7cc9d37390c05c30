"""The API of a newsroom, and the samples with which a test fills it."""

import contextlib
import http.server
import json
import os
import struct
import threading
import urllib.error
import urllib.request
import zlib


def picture(width=1200, height=800, hue=0):
    """Returns a PNG with a gradient."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            red, blue = x * 255 // width, y * 255 // height
            rows += bytes(((red + hue) % 256, (blue + 2 * hue) % 256, 160))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(rows), 1))
        + chunk(b"IEND", b"")
    )


class Newsroom:
    """A client of the API with a key."""

    def __init__(self, address, key):
        self.address = address
        self.key = key
        # The settings of the environment may name a proxy.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def send(self, method, path, body=None, headers=None):
        """Sends a request and returns the status, the header fields and the body, decoded if it is JSON."""
        headers = {"Authorization": f"Bearer {self.key}"} | (headers or {})
        if isinstance(body, dict):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(self.address + path, data=body, headers=headers, method=method)
        try:
            with self.opener.open(request, timeout=120) as response:
                status, fields, data = response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            status, fields, data = error.code, error.headers, error.read()
        is_json = "json" in fields.get("Content-Type", "")
        return status, fields, json.loads(data) if is_json and data else data

    def must(self, method, path, body=None, headers=None):
        """Sends a request that must succeed, and returns the body."""
        status, _, data = self.send(method, path, body, headers)
        if status >= 300:
            raise SystemExit(f"{method} {path}: {status} {data}")
        return data

    def item(self, identifier):
        return self.must("GET", f"/v1/editorial/items/{identifier}")

    def change(self, identifier, **fields):
        """Changes fields of an item as another editor would."""
        _, headers, _ = self.send("GET", f"/v1/editorial/items/{identifier}")
        return self.must(
            "PATCH",
            f"/v1/editorial/items/{identifier}",
            json.dumps(fields).encode(),
            {"If-Match": headers["ETag"], "Content-Type": "application/merge-patch+json"},
        )

    def fill(self):
        """Creates topics, files and items in all states. Returns the ids by name."""
        titles = {
            "harbour": {"en": "Harbour", "de": "Hafen"},
            "council": {"en": "Council and administration", "de": "Stadtrat und Verwaltungsangelegenheiten"},
            "sport": {"en": "Sport"},
        }
        for slug, names in titles.items():
            self.must("POST", "/v1/editorial/topics", {"slug": slug, "titles": names})
        files = [
            self.must("POST", "/v1/editorial/media", picture(600, 400, hue), {"Content-Type": "image/png"})
            for hue in (0, 40, 80)
        ]
        text = (
            "The ferry is back after eleven weeks in the yard.\n\nIt sails at six in the morning and at ten at night. "
            * 4
        )
        attachment = {
            "url": files[0]["url"],
            "type": "image/png",
            "alt": "The ferry at the pier",
            "caption": "The ferry",
        }
        ids = {}

        def add(name, **fields):
            ids[name] = self.must("POST", "/v1/editorial/items", {"text": text} | fields)["id"]

        for number in range(50):
            add(f"old-{number}", title=f"Notice {number}: the timetable of the harbour", topics=["harbour"])
        add(
            "draft",
            title="Night ferry returns",
            topics=["harbour"],
            state="draft",
            summary="After eleven weeks.",
            attachments=[attachment],
            language="en",
        )
        add(
            "review",
            title="Council to vote on the Donaudampfschifffahrtsgesellschaftskapitänsmützenverordnung",
            state="review",
            topics=["council", "harbour"],
            language="de",
            author="Anna Schmidt",
        )
        add("scheduled", title="Cup final on Saturday", publishAt="2099-05-01T10:00:00Z", topics=["sport"])
        add(
            "breaking",
            title="Fog closes the harbour",
            breaking=True,
            topics=["harbour"],
            language="en",
            html="<p>The <b>harbour</b> is closed.</p><blockquote>Nothing moves.</blockquote>",
            attachments=[attachment],
            url="https://example.org/a-rather-long-address/with-a-path/that-does-not-want-to-end/at-all?and=a-query",
        )
        add("arabic", title="عادت العبارة الليلية", text="تبحر في السادسة صباحا.", language="ar", topics=["harbour"])
        add(
            "untitled",
            text="A text without a title, which is as long as such texts are when there was no time to think of one.",
        )
        add("wrong", title="Bridge to open in May", topics=["council"])
        self.must(
            "DELETE", f"/v1/editorial/items/{ids['wrong']}?reason=The+bridge+opens+in+June.", headers={"If-Match": "*"}
        )
        self.change(ids["breaking"], title="Fog closes the harbour and the airport")
        self.change(ids["breaking"], topics=["harbour", "council"], state="published")
        subscription = {
            "url": "https://feed.invalid/",
            "paused": True,
            "title": "Harbour authority",
            "topics": ["harbour"],
        }
        ids["subscription"] = self.must("POST", "/v1/editorial/subscriptions", subscription)["id"]
        webhook = {"url": "https://cache.invalid/purge?all=lists", "topics": ["harbour"]}
        ids["webhook"] = self.must("POST", "/v1/editorial/webhooks", webhook)["id"]
        self.must("POST", f"/v1/editorial/webhooks/{ids['webhook']}/test")
        return ids


@contextlib.contextmanager
def sample_feed():
    """Serves a sample feed of the project, and returns its address."""
    file = os.path.join(os.path.dirname(__file__), "../../../../Samples/harbour-gazette.atom.xml")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/atom+xml")
            self.end_headers()
            with open(file, "rb") as feed:
                self.wfile.write(feed.read())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/feed.atom"
        server.shutdown()
