"""Calls a server through the client that openapi-python-client makes from openapi.yaml.

check.py URL CONTRACT, with a key in TIDINGS_KEY that has the scope admin. The server offers pushes through APNs. The package
tidings_client is generated and on the path. Ends with status 1 at the first answer that is not as it should be.
"""

import base64
import datetime
import hashlib
import importlib
import io
import os
import pkgutil
import re
import struct
import sys
import uuid

from ruamel.yaml import YAML

import tidings_client.api
from tidings_client import AuthenticatedClient, Client
from tidings_client.api.devices import get_push_offer, register_device, remove_device, renew_device, report_device
from tidings_client.api.editorial import (
    append_to_upload,
    change_item,
    create_item,
    create_topic,
    create_webhook,
    erase_item,
    get_editorial_item,
    get_upload_offset,
    get_webhooks,
    remove_media,
    remove_webhook,
    replace_item,
    retract_item,
    rotate_webhook,
    upload_media,
)
from tidings_client.api.operation import get_contract, get_health
from tidings_client.api.public import get_changes, get_item, get_items, get_media, get_state
from tidings_client.models import (
    AppendToUploadUploadComplete,
    AppendToUploadUploadDraftInteropVersion,
    AttachmentInput,
    CreateTopicBody,
    DeviceRegistration,
    DeviceReport,
    GetUploadOffsetUploadDraftInteropVersion,
    ItemInput,
    ItemPatch,
    Problem,
    UploadMediaUploadComplete,
    UploadMediaUploadDraftInteropVersion,
    WebhookInput,
)
from tidings_client.types import File


def expect(condition, what):
    if not condition:
        raise SystemExit(f"check.py: {what}")


def answered(response, status):
    detail = response.content[:300]
    expect(response.status_code == status, f"{int(response.status_code)} instead of {status}: {detail!r}")
    return response.parsed


def check_operations(contract):
    """Every operation of the contract is a module of the client."""
    with open(contract, encoding="utf-8") as file:
        paths = YAML(typ="safe").load(file)["paths"]
    declared = {
        operation["operationId"]
        for item in paths.values()
        for operation in item.values()
        if isinstance(operation, dict) and "operationId" in operation
    }
    generated = set()
    for package in pkgutil.iter_modules(tidings_client.api.__path__):
        module = importlib.import_module(f"tidings_client.api.{package.name}")
        generated.update(name for _, name, _ in pkgutil.iter_modules(module.__path__))
    snake = {re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower(): name for name in declared}
    missing = sorted(name for module, name in snake.items() if module not in generated)
    expect(not missing, f"operations that the client lacks: {missing}")
    return len(declared)


def photo():
    """The header of a PNG, which is all that the server looks at."""
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480)
    return header + hashlib.sha256(header).digest() * 32


def upload_in_parts(editor, data):
    """Uploads a file over several requests, and returns it as stored."""
    begun = upload_media.sync_detailed(
        client=editor,
        body=File(payload=io.BytesIO(b"")),
        upload_draft_interop_version=UploadMediaUploadDraftInteropVersion("6"),
        upload_complete=UploadMediaUploadComplete("?0"),
        upload_length=len(data),
    )
    answered(begun, 201)
    upload = uuid.UUID(begun.headers["Location"].rsplit("/", 1)[1])
    version = AppendToUploadUploadDraftInteropVersion("6")
    part = append_to_upload.sync_detailed(
        upload,
        client=editor,
        body=File(payload=io.BytesIO(data[:100])),
        upload_draft_interop_version=version,
        upload_offset=0,
        upload_complete=AppendToUploadUploadComplete("?0"),
    )
    expect(part.status_code == 204, f"a part is a {part.status_code}")
    state = get_upload_offset.sync_detailed(
        upload, client=editor, upload_draft_interop_version=GetUploadOffsetUploadDraftInteropVersion("6")
    )
    expect(state.headers["Upload-Offset"] == "100", f"the upload continues at {state.headers}")
    rest = File(payload=io.BytesIO(data[100:]))
    return append_to_upload.sync_detailed(
        upload, client=editor, body=rest, upload_draft_interop_version=version, upload_offset=100
    )


def main(url, contract):
    operations = check_operations(contract)
    reader = Client(base_url=url)
    editor = AuthenticatedClient(base_url=url, token=os.environ["TIDINGS_KEY"])

    answered(get_health.sync_detailed(client=reader), 200)
    answered(get_contract.sync_detailed(client=reader), 200)
    token = answered(get_changes.sync_detailed(client=reader), 200).token

    # Upload and write.
    data = photo()
    digest = "sha-256=:" + base64.b64encode(hashlib.sha256(data).digest()).decode() + ":"
    stored = answered(
        upload_media.sync_detailed(client=editor, body=File(payload=io.BytesIO(data)), repr_digest=digest), 201
    )
    expect((stored.type_, stored.width, stored.bytes_) == ("image/png", 640, len(data)), f"stored as {stored}")
    again = answered(upload_in_parts(editor, data), 200)
    expect(again.url == stored.url, f"the same file is {again}")
    topic = CreateTopicBody.from_dict({"slug": "harbour", "titles": {"en": "Harbour"}})
    answered(create_topic.sync_detailed(client=editor, body=topic), 201)
    date = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    item = answered(
        create_item.sync_detailed(
            client=editor,
            body=ItemInput(
                date=date,
                text="The ferry is back.",
                topics=["harbour"],
                attachments=[AttachmentInput.from_dict(stored.to_dict())],
            ),
        ),
        201,
    )
    changed = answered(
        change_item.sync_detailed(item.id, client=editor, body=ItemPatch(title="Ferry"), if_match='"r1"'), 200
    )
    expect((changed.title, changed.revision) == ("Ferry", 2), f"changed to {changed}")
    stale = answered(
        replace_item.sync_detailed(item.id, client=editor, body=ItemInput(date=date, text="x"), if_match='"r1"'), 412
    )
    expect(isinstance(stale, Problem), "an error is a Problem")
    new = "019a0000-0000-7000-8000-000000000001"
    answered(
        replace_item.sync_detailed(new, client=editor, body=ItemInput(date=date, text="New"), if_none_match="*"), 201
    )

    # List, read and follow.
    listed = answered(get_items.sync_detailed(client=reader, topics=["harbour"]), 200)
    expect([one.id for one in listed.items] == [item.id], f"listed {listed}")
    first = get_items.sync_detailed(client=reader)
    again = get_items.sync_detailed(client=reader, if_none_match=first.headers["ETag"])
    expect(again.status_code == 304, "a list that has not changed is a 304")
    expect(answered(get_item.sync_detailed(item.id, client=reader), 200).title == "Ferry", "the item as changed")
    changes = answered(get_changes.sync_detailed(client=reader, since=token), 200)
    expect({str(change.item.id) for change in changes.changes} == {str(item.id), new}, f"changes {changes}")
    expect(answered(get_state.sync_detailed(client=reader), 200).feed == changes.token, "the state has the token")
    media = stored.url.rsplit("/", 1)[1]
    file = answered(get_media.sync_detailed(media, client=reader), 200)
    expect(file.payload.read() == data, "the file as uploaded")

    # Take down.
    answered(remove_media.sync_detailed(media, client=editor), 409)
    answered(retract_item.sync_detailed(item.id, client=editor), 428)
    answered(retract_item.sync_detailed(item.id, client=editor, if_match="*", reason="Wrong"), 204)
    gone = answered(get_media.sync_detailed(media, client=reader), 410)
    expect(gone.reason == "retracted", f"the file's problem is {gone}")
    removed = answered(get_changes.sync_detailed(client=reader, since=changes.token), 200)
    expect([str(change.id) for change in removed.changes] == [str(item.id)], f"removals {removed}")
    answered(erase_item.sync_detailed(item.id, client=editor), 204)
    answered(remove_media.sync_detailed(media, client=editor), 204)
    erased = answered(get_editorial_item.sync_detailed(item.id, client=editor), 200)
    expect(erased.text == "" and erased.erased, f"erased to {erased}")

    # Register a device.
    expect([one.value for one in answered(get_push_offer.sync_detailed(client=reader), 200).providers] == ["apns"], "APNs")
    device = DeviceRegistration.from_dict({"provider": "apns", "app": "org.example.news", "token": "0f" * 32})
    known = answered(register_device.sync_detailed(client=reader, body=device), 201)
    phone = AuthenticatedClient(base_url=url, token=known.secret)
    answered(renew_device.sync_detailed(known.id, client=phone, body=device), 200)
    report = DeviceReport.from_dict({"token": removed.token, "result": "newData"})
    answered(report_device.sync_detailed(known.id, client=phone, body=report), 204)
    answered(remove_device.sync_detailed(known.id, client=phone), 204)
    answered(remove_device.sync_detailed(known.id, client=phone), 404)

    # Add a webhook.
    body = WebhookInput.from_dict({"url": "https://hook.invalid/", "paused": True})
    hook = answered(create_webhook.sync_detailed(client=editor, body=body), 201)
    rotated = answered(rotate_webhook.sync_detailed(hook.id, client=editor), 200)
    expect(hook.secret.startswith("whsec_") and rotated.secret != hook.secret, "the secrets")
    expect([one.id for one in answered(get_webhooks.sync_detailed(client=editor), 200).webhooks] == [hook.id], "webhooks")
    answered(remove_webhook.sync_detailed(hook.id, client=editor, if_match="*"), 204)
    print(
        f"the generated client has all {operations} operations, and lists, follows, writes, uploads, takes down, registers"
        " devices and adds webhooks"
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
