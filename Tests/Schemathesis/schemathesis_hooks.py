"""Changes of the generated requests of scripts/schemathesis, so that they reach existing resources and end soon.

SCHEMATHESIS_IDS has the ids of existing resources as JSON, such as {"items": [...], "topics": [...]}, and the secrets of
devices by their ids, {"secrets": {...}}.
"""

import json
import os
import zlib

import schemathesis

# The bytes of an interrupted upload continue as they are.
schemathesis.serializer.alias("application/partial-upload", "application/octet-stream")

IDS = json.loads(os.environ.get("SCHEMATHESIS_IDS", "{}"))
SUBSCRIPTION_KEYS = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}


def number(value):
    """A number that depends on the generated value only, so that a seed gives the same requests again."""
    return zlib.crc32(repr(value).encode())


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Three of four ids are those of existing resources."""
    if not isinstance(path_parameters, dict):
        return path_parameters
    resources = context.operation.path.removeprefix("/v1/").removeprefix("editorial/").split("/")[0]
    for name, ids in (
        ("id", IDS.get(resources)), ("slug", IDS.get("topics")), ("delivery", IDS.get("deliveries"))
    ):
        value = path_parameters.get(name)
        if ids and value is not None and number(value) % 4:
            path_parameters[name] = ids[number(value) % len(ids)]
    return path_parameters


@schemathesis.hook
def map_headers(context, headers):
    """Most locks accept any revision; otherwise nearly all writes would be refused."""
    if isinstance(headers, dict) and "If-Match" in headers and number(headers["If-Match"]) % 4:
        headers["If-Match"] = "*"
    return headers


@schemathesis.hook
def map_query(context, query):
    """A long poll lasts a second at most, and topics exist."""
    if isinstance(query, dict):
        if isinstance(query.get("wait"), int) and query["wait"] > 1:
            query["wait"] = 1
        if IDS.get("topics") and isinstance(query.get("topics"), list) and number(query["topics"]) % 4:
            query["topics"] = IDS["topics"]
    return query


@schemathesis.hook
def map_body(context, body):
    """The server requests the addresses of subscriptions, webhooks and devices: none may be that of a foreign machine."""
    if not isinstance(body, dict):
        return body
    subscription = body.get("subscription")
    if "/devices" in context.operation.path and isinstance(subscription, dict):
        if isinstance(subscription.get("endpoint"), str) and number(subscription["endpoint"]) % 4:
            subscription["endpoint"] = f"https://push.invalid/{number(subscription['endpoint']) % 1000}"
        elif str(subscription.get("endpoint")).startswith("http"):
            subscription["endpoint"] = "https://feed.invalid/"
        if isinstance(subscription.get("keys"), dict) and number(subscription["keys"]) % 4:
            subscription["keys"] = SUBSCRIPTION_KEYS
    if "/subscriptions" in context.operation.path or "/webhooks" in context.operation.path:
        url = body.get("url")
        if isinstance(url, str) and url.startswith("http"):
            body["url"] = f"https://feed.invalid/{number(url) % 1000}"
    if IDS.get("topics") and isinstance(body.get("topics"), list) and number(body["topics"]) % 4:
        body["topics"] = IDS["topics"][: number(body["topics"]) % 3]
    return body


@schemathesis.auth(refresh_interval=None).apply_to(path_regex="^/v1/devices/")
class DeviceSecret:
    """Requests for a device have its secret, unless they have a key: few of those that end it, so that devices remain."""

    def get(self, case, context):
        if case.method == "DELETE" and number(case.path_parameters) % 8:
            return None
        return IDS.get("secrets", {}).get((case.path_parameters or {}).get("id"))

    def set(self, case, secret, context):
        if secret:
            case.headers["Authorization"] = f"Bearer {secret}"
