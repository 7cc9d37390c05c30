// Made by scripts/embed from openapi.yaml; do not edit.
// swift-format-ignore-file

let embeddedOpenAPI = #"""
openapi: 3.1.0
info:
  title: Tidings
  version: "1"
  summary: News for clients that poll often and mostly find nothing new.
  license:
    name: Apache-2.0
    identifier: Apache-2.0
  description: |
    **Reading** needs no key. Every public response has an entity tag. A client sends it in `If-None-Match`, and
    "nothing new" is a 304 of a few hundred bytes. A client that keeps a copy follows `/v1/changes`: it stores the
    `token` of each response and sends it as `since`. Its copy then equals the server's data, including deletions.

    **Writing** uses the paths under `/v1/editorial/` with a key (`Authorization: Bearer KEY`). The lock of an item is
    its `revision`: a write names the revision that it is based on, in `If-Match` or in the body.

    **Restricted keys**: a key may be restricted to topics. It sees and writes an item if the item has topics and all of
    them are among those of the key; the same applies to the item after a write. Other items are not found, are not
    counted, and a write to them is a 403 `topic-not-allowed`, which names their topics. Such a key sees the files of
    these items and files that no item uses. It cannot create, change, delete or merge topics.

    **Files** are uploaded to `/v1/editorial/media`. The response can be added to the `attachments` of an item.
    Identical content is stored once, and `/v1/media/{id}` serves it in parts or whole. A file is removed when no item
    has used it for a week, or for the time that the server is configured with. An upload may continue over several requests
    (draft-ietf-httpbis-resumable-upload, interop version 6): an empty POST with `Upload-Complete: ?0` begins it, and
    `/v1/editorial/media/uploads/{id}` receives the bytes.

    **Taking down**: `DELETE /v1/editorial/items/{id}` retracts an item, and its files then return 410 too.
    `DELETE /v1/editorial/media/{id}` removes a file that no published item uses. `POST /v1/editorial/items/{id}/erase`
    permanently removes the texts and files of a retracted item.

    **Repeating**: every POST under `/v1/editorial/` accepts `Idempotency-Key`, a name that the client chooses for the request
    (draft-ietf-httpapi-idempotency-key-header). A request with the same key, from the same API key to the same path and
    query, has no second effect: it receives the stored answer with `Idempotency-Replayed: true`. Its body must be the same
    (422 `idempotency-key-reused` otherwise); for an upload, the body is the file. While the first request is being carried
    out, a repetition is a 409 `request-in-progress` with `Retry-After`. The answer is stored in the transaction of its
    effect, for 24 hours. Refused requests (4xx) and errors of the server have no effect and are not stored, so that the
    client may correct them and use the key again. A stored answer has at most 8 MiB: that to a larger batch is stored
    without the items of its results. The erasure of an item erases the stored answers that contain it; repetitions of their
    requests are then a 410 `answer-erased`.

    **JSON**: keys are sorted. Dates are RFC 3339 in UTC with three fraction digits. Absent fields are omitted and never
    null. Arrays are always present. Ids are in lower case. `/v1` changes by addition only: clients ignore fields, `op`s
    and problem types that they do not know. The schemas here are closed because they describe what this version sends.

    **Errors** are problem details (RFC 9457). `type` is stable and intended for programs:

    | type | status | when |
    |---|---|---|
    | `/problems/invalid-parameter` | 400 | a query parameter is unknown, repeated, empty or malformed; `errors` names it and the rule |
    | `/problems/malformed-request` | 400 | the message is malformed HTTP: framing, `Host`, target or header lines |
    | `/problems/malformed-body` | 400 | the body is not JSON, not UTF-8, nested deeper than 32, or has a key of more than 256 bytes or a string with more than 30 combining marks in a row |
    | `/problems/idempotency-key-unsupported` | 400 | `Idempotency-Key` was sent with another method than POST; the precondition makes these repeatable |
    | `/problems/unauthorized` | 401 | the key is missing or invalid, has expired or was replaced; `detail` has the reason |
    | `/problems/forbidden` | 403 | the key lacks the scope |
    | `/problems/topic-not-allowed` | 403 | the key is restricted to other topics; `detail` names the topic |
    | `/problems/not-found` | 404 | the resource does not exist |
    | `/problems/method-not-allowed` | 405 | the resource does not support the method; see `Allow` |
    | `/problems/request-timeout` | 408 | a header takes longer than 10 s, or a body pauses for 30 s or comes at less than 1 KiB a second |
    | `/problems/already-followed` | 409 | another subscription has the address |
    | `/problems/request-in-progress` | 409 | the first request with this `Idempotency-Key` has no answer yet; see `Retry-After` |
    | `/problems/subscription-paused` | 409 | a paused subscription is to be polled |
    | `/problems/webhook-limit` | 409 | there are as many webhooks as there may be |
    | `/problems/upload-offset` | 409 | the upload continues at another offset, which `Upload-Offset` has |
    | `/problems/upload-in-progress` | 409 | another request is appending to the upload |
    | `/problems/upload-limit` | 409 | the key has too many unfinished uploads, or bytes in them |
    | `/problems/webhook-paused` | 409 | an event is to be sent to a paused webhook |
    | `/problems/callback-ended` | 410 | the lease of the callback at a hub has ended |
    | `/problems/conflict` | 409 | the id or slug is used by another resource |
    | `/problems/media-in-use` | 409 | a published item uses the file that is to be removed; `detail` names some |
    | `/problems/topic-in-use` | 409 | items have the topic that is to be deleted |
    | `/problems/not-retracted` | 409 | only a retracted item can be erased |
    | `/problems/retracted` | 410 | the item was retracted or has expired; `reason` is `retracted` or `expired`, `detail` the editor's words |
    | `/problems/answer-erased` | 410 | the request with this `Idempotency-Key` was carried out, but an item in its answer was erased since |
    | `/problems/revision-removed` | 410 | the history of the item begins after the revision |
    | `/problems/withdrawn` | 410 | the file was taken down: only retracted (`retracted`) or expired (`expired`) items use it, or it was removed (`removed`) |
    | `/problems/token-expired` | 410 | the token cannot be continued; `reason` is `epoch`, `scope`, `expired` or `ahead`, `token` a current one |
    | `/problems/precondition-failed` | 412 | `If-Match`, `If-None-Match`, `If-Unmodified-Since` or `revision` does not hold |
    | `/problems/body-too-large` | 413 | the body is larger than 1 MiB, a batch than 16 MiB, or a file is larger than the configured maximum (2 GiB by default) |
    | `/problems/batch-too-large` | 413 | the stored items that a batch changes have more than 32 MiB together, or twice the maximum size of the body if the operator has raised that; nothing was written |
    | `/problems/unsupported-media-type` | 415 | the body is not JSON; or the type of a file is not accepted or does not match its first bytes |
    | `/problems/unsupported-content-coding` | 415 | the body has a `Content-Encoding` |
    | `/problems/range-not-satisfiable` | 416 | no range lies within the file; `Content-Range` has its length |
    | `/problems/expectation-failed` | 417 | `Expect` has a value other than `100-continue` |
    | `/problems/invalid-field` | 422 | fields of the body are invalid, or a file does not match the digest in its header; `errors` names them |
    | `/problems/idempotency-key-reused` | 422 | an earlier request with this `Idempotency-Key` had another body |
    | `/problems/batch-refused` | 422 | an entry of an atomic batch was refused, so that nothing was written; `results` has the reasons |
    | `/problems/failed-dependency` | 424 | only in `results`: the entry was not written because another one was refused |
    | `/problems/precondition-required` | 428 | a change or a retraction without a lock |
    | `/problems/too-many-requests` | 429 | too many requests from one address or with one key; see `Retry-After` |
    | `/problems/headers-too-large` | 431 | more than 16 KiB of header fields |
    | `/problems/internal` | 500 | an error of the server |
    | `/problems/not-implemented` | 501 | no resource has such a method, or the body has a transfer coding besides chunked |
    | `/problems/media-not-kept` | 501 | this server does not store files |
    | `/problems/unavailable` | 503 | the database is unreachable, too many requests are waiting, or too many files are open; see `Retry-After` |
    | `/problems/database-full`, `/problems/database-failed` | 503 | the disk of the database is full, or fails: nothing can be written until the operator has acted; reads go on |
    | `/problems/database-read-only` | 503 | the database, or its disk, is read-only; reads go on |
    | `/problems/media-unavailable` | 503 | the folder for files is missing, or is not that of the database; the operator has to act |
    | `/problems/feeds-not-configured` | 404 | the server has no public URL, which the addresses of feeds need |
    | `/problems/not-reached-yet` | 503 | the version of `at` was not reached within a second; see `Retry-After` |
    | `/problems/search-too-broad` | 503 | the search takes longer than a second; use rarer words |
    | `/problems/outcome-unknown` | 503 | the connection broke during the commit; repeat with the same id, or read the item |
    | `/problems/version-not-supported` | 505 | the version is neither HTTP/1.1 nor HTTP/1.0 |
    | `/problems/storage-failed` | 503 | the folder for files, or its disk, fails |
    | `/problems/storage-full` | 507 | there is not enough space for the file |
    | `/problems/storage-read-only` | 507 | files can only be read at present |

    These responses are not repeated at every operation. An unknown path is a 404 (`UnknownPath`). An unsupported method
    of a resource is a 405 (`MethodNotAllowed`), and a method that no resource has is a 501 (`NotImplemented`). Another
    version of HTTP is a 505 (`VersionNotSupported`). Unknown query parameters are a 400, even for operations without
    parameters.

    **Pages** (`/`, `/topics/{slug}`, `/items/{id}`) are for readers with a browser. Their errors are pages too, and they
    ignore unknown query parameters.
servers:
  - url: /
tags:
  - name: public
    description: Public resources for readers. They are cacheable, need no key, and allow any origin.
  - name: devices
    description: Registrations of devices that receive pushes. Any origin may use them.
  - name: editorial
    description: Resources for editors.
  - name: pages
    description: Pages for readers with a browser. They are cacheable and need no key.
  - name: hubs
    description: Callbacks for WebSub hubs. Each has a secret address, which only a hub and the server know.
  - name: operation
    description: Resources for operators.

paths:
  /v1/items:
    get:
      operationId: getItems
      tags: [public]
      summary: The newest items, or a page of older ones
      description: >-
        The items are ordered by `date` descending, then `id` descending. `Link` has the URL of the next page. A page
        ends early at 1 MiB.
      parameters:
        - { $ref: "#/components/parameters/Limit" }
        - { $ref: "#/components/parameters/Cursor" }
        - { $ref: "#/components/parameters/Topics" }
        - { $ref: "#/components/parameters/Language" }
        - { $ref: "#/components/parameters/Author" }
        - { $ref: "#/components/parameters/From" }
        - { $ref: "#/components/parameters/To" }
        - { $ref: "#/components/parameters/Breaking" }
        - { $ref: "#/components/parameters/Search" }
        - { $ref: "#/components/parameters/Include" }
        - { $ref: "#/components/parameters/At" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/ItemList" }
        "304": { $ref: "#/components/responses/ItemListNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "410": { $ref: "#/components/responses/TokenExpired" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headItems
      tags: [public]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/Limit" }
        - { $ref: "#/components/parameters/Cursor" }
        - { $ref: "#/components/parameters/Topics" }
        - { $ref: "#/components/parameters/Language" }
        - { $ref: "#/components/parameters/Author" }
        - { $ref: "#/components/parameters/From" }
        - { $ref: "#/components/parameters/To" }
        - { $ref: "#/components/parameters/Breaking" }
        - { $ref: "#/components/parameters/Search" }
        - { $ref: "#/components/parameters/Include" }
        - { $ref: "#/components/parameters/At" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/ItemListHead" }
        "304": { $ref: "#/components/responses/ItemListNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "410": { $ref: "#/components/responses/TokenExpiredHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightItems
      tags: [public]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/items/{id}:
    get:
      operationId: getItem
      tags: [public]
      summary: One item
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/Include" }
        - { $ref: "#/components/parameters/At" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/Item" }
        "304": { $ref: "#/components/responses/ItemNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "410": { $ref: "#/components/responses/ItemGone" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headItem
      tags: [public]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/Include" }
        - { $ref: "#/components/parameters/At" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/ItemHead" }
        "304": { $ref: "#/components/responses/ItemNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "410": { $ref: "#/components/responses/ItemGoneHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightItem
      tags: [public]
      summary: CORS preflight
      parameters:
        - { name: id, in: path, required: true, description: Ignored., schema: { type: string } }
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/changes:
    get:
      operationId: getChanges
      tags: [public]
      summary: The changes since a token
      description: >-
        Without `since`, the response is the authoritative snapshot, and every page has `snapshot: true`. The last page
        has `more: false`; the received items then replace the client's data. With `since`, the response is the
        difference, in the order of versions. While `more` is true, the client sends the next request at once with the
        new token. The entity tag of a response without `more` is the token in quotes: a client at T requests `since=T`
        with `If-None-Match: "T"` and receives a 304 if nothing is new. With `more`, the tag is derived from the
        content.
      parameters:
        - { $ref: "#/components/parameters/Since" }
        - { $ref: "#/components/parameters/Topics" }
        - { $ref: "#/components/parameters/ChangeLimit" }
        - { $ref: "#/components/parameters/Include" }
        - { $ref: "#/components/parameters/At" }
        - { $ref: "#/components/parameters/Wait" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/ChangeList" }
        "304": { $ref: "#/components/responses/ChangeListNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "410": { $ref: "#/components/responses/TokenExpired" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headChanges
      tags: [public]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/Since" }
        - { $ref: "#/components/parameters/Topics" }
        - { $ref: "#/components/parameters/ChangeLimit" }
        - { $ref: "#/components/parameters/Include" }
        - { $ref: "#/components/parameters/At" }
        - { $ref: "#/components/parameters/Wait" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/ChangeListHead" }
        "304": { $ref: "#/components/responses/ChangeListNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "410": { $ref: "#/components/responses/TokenExpiredHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightChanges
      tags: [public]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/state:
    get:
      operationId: getState
      tags: [public]
      summary: The current tokens of the feed and of topics
      description: >-
        For clients that follow several topics separately: one small response shows which of them have changed.
      parameters:
        - { $ref: "#/components/parameters/Topics" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/State" }
        "304": { $ref: "#/components/responses/StateNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headState
      tags: [public]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/Topics" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/StateHead" }
        "304": { $ref: "#/components/responses/StateNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightState
      tags: [public]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/events:
    get:
      operationId: getEvents
      tags: [public]
      summary: A stream of notifications about changes
      description: >-
        Server-sent events (HTML standard, section 9.2). Each publication in the scope is one event; several that happen
        at once may share one. The `id` is the current token, and the data is a ChangeEvent. To fetch the changes,
        request `/v1/changes` with the stored token. A stream resumes after `Last-Event-ID`, or else `since`, without a
        gap. If it cannot resume, it sends an event of the type `resync`; the client then requests the snapshot. A
        stream begins with the `id` from which it resumes, and with `retry`. Comments serve as heartbeats. The stream
        ends when the server shuts down or the client reads too slowly. It then sends a `retry` that differs between
        clients.
      parameters:
        - { $ref: "#/components/parameters/Topics" }
        - { $ref: "#/components/parameters/EventsSince" }
        - { $ref: "#/components/parameters/LastEventID" }
      responses:
        "200": { $ref: "#/components/responses/EventStream" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    options:
      operationId: preflightEvents
      tags: [public]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/topics:
    get:
      operationId: getTopics
      tags: [public]
      summary: All topics, ordered by position and slug
      parameters:
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/TopicList" }
        "304": { $ref: "#/components/responses/TopicListNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headTopics
      tags: [public]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/TopicListHead" }
        "304": { $ref: "#/components/responses/TopicListNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightTopics
      tags: [public]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/topics/{slug}:
    get:
      operationId: getTopic
      tags: [public]
      summary: One topic
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/Topic" }
        "304": { $ref: "#/components/responses/TopicNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headTopic
      tags: [public]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/TopicHead" }
        "304": { $ref: "#/components/responses/TopicNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightTopic
      tags: [public]
      summary: CORS preflight
      parameters:
        - { name: slug, in: path, required: true, description: Ignored., schema: { type: string } }
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/media/{id}:
    get:
      operationId: getMedia
      tags: [public]
      summary: A file
      description: |
        The bytes, type and name at a URL never change. A file is available while a published item uses it. Before that it
        returns 404. A file that is taken down returns 410: while only retracted items use it, or after it was removed. `Range` requests a part. The response is the whole file if the request
        has several ranges, or if `If-Range` names another file.
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/Range" }
        - { $ref: "#/components/parameters/IfRange" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/Media" }
        "206": { $ref: "#/components/responses/MediaPart" }
        "304": { $ref: "#/components/responses/MediaNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "410": { $ref: "#/components/responses/MediaGone" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "416": { $ref: "#/components/responses/RangeNotSatisfiable" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headMedia
      tags: [public]
      summary: The headers of the same GET; `Range` is ignored
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/MediaHead" }
        "304": { $ref: "#/components/responses/MediaNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "410": { $ref: "#/components/responses/MediaGoneHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightMedia
      tags: [public]
      summary: CORS preflight
      parameters:
        - { name: id, in: path, required: true, description: Ignored., schema: { type: string } }
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /feed.json:
    get:
      operationId: getFeedJSON
      tags: [public]
      summary: The feed of all items for feed readers, as JSON Feed 1.1
      description: >-
        The document has the items with the latest changes, newest first, and all items that no archive has. With
        `archive`, it is an archive (RFC 5005): 100 items by their first publication. Its URL never changes, and a correction
        of an item is in the current document too. A reader that sends `A-IM: feed` with the entity tag of its document in
        `If-None-Match` receives a 226 with the changes since then (RFC 3229). The format cannot express removals, so after one the response is the whole document.
        Requests through a proxy receive the whole document.
      parameters:
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/InstanceManipulation" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/JSONFeed" }
        "226": { $ref: "#/components/responses/JSONFeedChanges" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headFeedJSON
      tags: [public]
      summary: The headers of the same GET without `A-IM`
      parameters:
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/FeedHead" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightFeedJSON
      tags: [public]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /feed.atom:
    get:
      operationId: getFeedAtom
      tags: [public]
      summary: The feed of all items for feed readers, as Atom
      description: >-
        The document has the items with the latest changes, newest first, and all items that no archive has. With
        `archive`, it is an archive (RFC 5005): 100 items by their first publication. Its URL never changes, and a correction
        of an item is in the current document too. A reader that sends `A-IM: feed` with the entity tag of its document in
        `If-None-Match` receives a 226 with the changes since then (RFC 3229). It has the ids of removed items as deleted entries (RFC 6721).
        Requests through a proxy receive the whole document.
      parameters:
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/InstanceManipulation" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/AtomFeed" }
        "226": { $ref: "#/components/responses/AtomFeedChanges" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headFeedAtom
      tags: [public]
      summary: The headers of the same GET without `A-IM`
      parameters:
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/FeedHead" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightFeedAtom
      tags: [public]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /feed.rss:
    get:
      operationId: getFeedRSS
      tags: [public]
      summary: The feed of all items for feed readers, as RSS 2.0
      description: >-
        The document has the items with the latest changes, newest first, and all items that no archive has. With
        `archive`, it is an archive (RFC 5005): 100 items by their first publication. Its URL never changes, and a correction
        of an item is in the current document too. A reader that sends `A-IM: feed` with the entity tag of its document in
        `If-None-Match` receives a 226 with the changes since then (RFC 3229). The format cannot express removals, so after one the response is the whole document.
        Requests through a proxy receive the whole document.
      parameters:
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/InstanceManipulation" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/RSSFeed" }
        "226": { $ref: "#/components/responses/RSSFeedChanges" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headFeedRSS
      tags: [public]
      summary: The headers of the same GET without `A-IM`
      parameters:
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/FeedHead" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightFeedRSS
      tags: [public]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /topics/{slug}/feed.json:
    get:
      operationId: getTopicFeedJSON
      tags: [public]
      summary: The feed of a topic for feed readers, as JSON Feed 1.1
      description: >-
        The same as the feed of all items, with the items of a topic. An unknown topic is a 404.
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/InstanceManipulation" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/JSONFeed" }
        "226": { $ref: "#/components/responses/JSONFeedChanges" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headTopicFeedJSON
      tags: [public]
      summary: The headers of the same GET without `A-IM`
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/FeedHead" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightTopicFeedJSON
      tags: [public]
      summary: CORS preflight
      parameters:
        - { name: slug, in: path, required: true, description: Ignored., schema: { type: string } }
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /topics/{slug}/feed.atom:
    get:
      operationId: getTopicFeedAtom
      tags: [public]
      summary: The feed of a topic for feed readers, as Atom
      description: >-
        The same as the feed of all items, with the items of a topic. An unknown topic is a 404.
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/InstanceManipulation" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/AtomFeed" }
        "226": { $ref: "#/components/responses/AtomFeedChanges" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headTopicFeedAtom
      tags: [public]
      summary: The headers of the same GET without `A-IM`
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/FeedHead" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightTopicFeedAtom
      tags: [public]
      summary: CORS preflight
      parameters:
        - { name: slug, in: path, required: true, description: Ignored., schema: { type: string } }
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /topics/{slug}/feed.rss:
    get:
      operationId: getTopicFeedRSS
      tags: [public]
      summary: The feed of a topic for feed readers, as RSS 2.0
      description: >-
        The same as the feed of all items, with the items of a topic. An unknown topic is a 404.
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/InstanceManipulation" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/RSSFeed" }
        "226": { $ref: "#/components/responses/RSSFeedChanges" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headTopicFeedRSS
      tags: [public]
      summary: The headers of the same GET without `A-IM`
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/Archive" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/FeedHead" }
        "304": { $ref: "#/components/responses/FeedNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightTopicFeedRSS
      tags: [public]
      summary: CORS preflight
      parameters:
        - { name: slug, in: path, required: true, description: Ignored., schema: { type: string } }
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/media:
    get:
      operationId: getEditorialMedia
      tags: [editorial]
      summary: The uploaded files, newest first
      description: >-
        `Link` has the URL of the next page. A key that is restricted to topics receives files of its items and files
        that no item uses.
      security:
        - key: ["items:write"]
        - key: ["media:write"]
      parameters:
        - { $ref: "#/components/parameters/Used" }
        - { $ref: "#/components/parameters/Limit" }
        - { $ref: "#/components/parameters/Cursor" }
      responses:
        "200": { $ref: "#/components/responses/EditorialMediaList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    post:
      operationId: uploadMedia
      tags: [editorial]
      summary: Stores a file
      description: |
        The body is the file, with `Content-Length` or chunked. Its maximum size is configured on the server; the
        default is 2 GiB. With `Expect: 100-continue`, the server refuses an invalid request before the body is sent.

        The response is an attachment that can be added to an item unchanged, or with an `alt`. Its `url` is absolute if
        the server is configured with its public URL, and a path otherwise; items accept both. Width and height are
        those of the picture as it is displayed, if its header contains them.

        Identical content of the same type is stored once, with its first id and name. A repeated upload, for example
        after a broken connection, is not an error: it returns 200 with the same `Location`. A file that no item uses is
        removed after a week, or the time that the server is configured with. The time starts at the last upload, or
        when the last item stopped using the file. A file that an item uses is kept, even if the item is a draft or
        retracted. A file that only retracted items use returns 410, even after another upload, until a published item
        uses it.

        With `Content-Type: application/octet-stream`, the server detects the type by the first bytes of the file.
        Declare the type of a container that may hold audio or video: otherwise, `audio/mp4`, `audio/webm` and
        `video/ogg` are detected as `video/mp4`, `video/webm` and `audio/ogg`. The first bytes of the file must match a
        declared type. The accepted types are image/jpeg, image/png, image/gif, image/webp, image/avif, image/heic,
        image/heif, application/pdf, video/mp4, audio/mp4, video/quicktime, video/webm, audio/webm, audio/ogg,
        video/ogg, audio/mpeg, audio/aac, audio/flac, audio/wav.

        With `Upload-Draft-Interop-Version: 6` and `Upload-Complete: ?0`, the body is empty, and the request begins an upload
        that continues over several requests. `Location` is its path, to which the bytes are sent with PATCH. The other
        fields describe the whole file, and `Content-Digest` must be omitted. A key may have 20 unfinished uploads, with four
        times as many bytes as a file; an upload without `Upload-Length` counts as a file of the maximum size. Another one is
        409 `upload-limit`.
      security:
        - key: ["media:write"]
      parameters:
        - { $ref: "#/components/parameters/IdempotencyKey" }
        - name: Upload-Draft-Interop-Version
          in: header
          description: The version of the draft, if one of the following fields is sent.
          schema: { type: string, enum: ["6"] }
        - name: Upload-Complete
          in: header
          description: "`?0` begins an upload; `?1` is the same as no field."
          schema: { type: string, enum: ["?0", "?1"] }
        - { $ref: "#/components/parameters/UploadLength" }
        - name: Content-Disposition
          in: header
          description: >-
            The name under which readers save the file (RFC 6266), at most 255 bytes. Only the last part of a path is
            used.
          schema: { type: string }
          example: attachment; filename="ferry.jpg"
        - name: Repr-Digest
          in: header
          description: >-
            The SHA-256 digest of the file (RFC 9530), which the server verifies. `Content-Digest` has the same effect.
          schema: { type: string }
          example: "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
        - name: Content-Digest
          in: header
          description: The same as `Repr-Digest`, because files have no content coding.
          schema: { type: string }
      requestBody: { $ref: "#/components/requestBodies/NewMedia" }
      responses:
        "200": { $ref: "#/components/responses/MediaKept" }
        "201": { $ref: "#/components/responses/MediaStoredOrBegun" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/UploadNotBegun" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "501": { $ref: "#/components/responses/MediaNotKept" }
        "503": { $ref: "#/components/responses/Unavailable" }
        "507": { $ref: "#/components/responses/StorageFull" }
    options:
      operationId: describeUploads
      tags: [editorial]
      summary: The support for uploads that continue over several requests
      description: >-
        `Upload-Limit` has the maximum size of a file in bytes, and the seconds after the last progress at which an
        unfinished upload expires.
      security:
        - key: ["media:write"]
      responses:
        "204": { $ref: "#/components/responses/UploadSupport" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "501": { $ref: "#/components/responses/MediaNotKept" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/media/uploads/{id}:
    head:
      operationId: getUploadOffset
      tags: [editorial]
      summary: The offset at which an upload continues
      description: >-
        The offset is the number of bytes that are on disk. It is right after a crash of a server at any moment, and on any
        other server of the installation.
      security:
        - key: ["media:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/UploadVersion" }
      responses:
        "204": { $ref: "#/components/responses/UploadProgress" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "501": { $ref: "#/components/responses/MediaNotKept" }
        "503": { $ref: "#/components/responses/Unavailable" }
    patch:
      operationId: appendToUpload
      tags: [editorial]
      summary: Appends bytes to an upload
      description: |
        `Upload-Offset` must be the number of bytes so far: otherwise, the response is 409 `upload-offset` with the right one.
        While another request appends to the same upload, it is 409 `upload-in-progress`. What has arrived of a request that
        breaks is kept.

        The request with `Upload-Complete: ?1` (the default) completes the file. Its response is that of an upload in one
        request. To receive it again, repeat the request with the whole length as the offset and without a body. A file of
        another type or with another digest than declared is refused, and the upload is removed.
      security:
        - key: ["media:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/UploadVersion" }
        - name: Upload-Offset
          in: header
          required: true
          description: The number of bytes before those of the request.
          schema: { type: integer, minimum: 0 }
        - name: Upload-Complete
          in: header
          description: Whether these are the last bytes.
          schema: { type: string, enum: ["?0", "?1"], default: "?1" }
        - { $ref: "#/components/parameters/UploadLength" }
      requestBody: { $ref: "#/components/requestBodies/PartOfMedia" }
      responses:
        "200": { $ref: "#/components/responses/MediaKept" }
        "201": { $ref: "#/components/responses/MediaStored" }
        "204": { $ref: "#/components/responses/UploadProgress" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/UploadConflict" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "501": { $ref: "#/components/responses/MediaNotKept" }
        "503": { $ref: "#/components/responses/Unavailable" }
        "507": { $ref: "#/components/responses/StorageFull" }
    delete:
      operationId: cancelUpload
      tags: [editorial]
      summary: Cancels an upload and removes its bytes
      description: The file of a complete upload remains.
      security:
        - key: ["media:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/UploadVersion" }
      responses:
        "204": { $ref: "#/components/responses/UploadCancelled" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "501": { $ref: "#/components/responses/MediaNotKept" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/media/{id}:
    get:
      operationId: getEditorialFile
      tags: [editorial]
      summary: A file, also if only drafts use it
      description: The response is that of the public resource, but private.
      security:
        - key: ["items:write"]
        - key: ["media:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/Range" }
        - { $ref: "#/components/parameters/IfRange" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/EditorialFile" }
        "206": { $ref: "#/components/responses/EditorialFilePart" }
        "304": { $ref: "#/components/responses/EditorialFileNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "416": { $ref: "#/components/responses/RangeNotSatisfiable" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    delete:
      operationId: removeMedia
      tags: [editorial]
      summary: Removes a file permanently
      description: >-
        The URL of the file returns 410 from then on. While a published item uses the file, the request is refused with
        409 `media-in-use`. Drafts lose the file: a draft that names it in `attachments` cannot be written until the
        attachment is removed. Removing a file again returns 204. An upload of the same content gets another URL.
      security:
        - key: ["media:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
      responses:
        "204": { $ref: "#/components/responses/Removed" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/MediaInUse" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/items:
    get:
      operationId: getEditorialItems
      tags: [editorial]
      summary: Items in any state, most recently written first
      description: >-
        `Link` has the URL of the next page. A page ends early at 1 MiB. `counts` has the number of all items in each state,
        whatever the filters select. A key that is restricted to topics receives and counts its items only.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/State" }
        - { $ref: "#/components/parameters/Topics" }
        - { $ref: "#/components/parameters/From" }
        - { $ref: "#/components/parameters/To" }
        - { $ref: "#/components/parameters/Breaking" }
        - { $ref: "#/components/parameters/Search" }
        - { $ref: "#/components/parameters/Limit" }
        - { $ref: "#/components/parameters/Cursor" }
      responses:
        "200": { $ref: "#/components/responses/EditorialItemList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    post:
      operationId: createItem
      tags: [editorial]
      summary: Creates an item and, by default, publishes it
      description: >-
        Without a `state`, the item is published, or scheduled if `publishAt` is in the future. With a key that lacks
        `items:publish` it becomes a draft. With an `id` chosen by the client, the request may be repeated: the same content
        returns 200, other content 409.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/IdempotencyKey" }
      requestBody: { $ref: "#/components/requestBodies/NewItem" }
      responses:
        "200": { $ref: "#/components/responses/EditorialItemKept" }
        "201": { $ref: "#/components/responses/EditorialItemCreated" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/Conflict" }
        "410": { $ref: "#/components/responses/EditorialGone" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/items/batch:
    post:
      operationId: writeItems
      tags: [editorial]
      summary: Writes up to 1,000 items in one transaction
      description: >-
        Each entry is a write of its own item with its own lock, rules and result; the results are in the order of the
        entries, and their statuses are those of single requests. A refused entry does not affect the others, unless `atomic`
        is true: then nothing is written, the response is 422 `batch-refused` with all results, and entries that were not
        refused have the status 424. Malformed batches (an unknown `op`, an id that is used twice, no entries) are 422 as a
        whole, and nothing is written. The maximum size of the body is 16 MiB, or what the operator has set. The stored items
        that a batch changes may have 32 MiB of JSON together, or twice the maximum size of the body if that is more: a larger
        batch is 413 `batch-too-large` as a whole, and is to be divided.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/IdempotencyKey" }
      requestBody: { $ref: "#/components/requestBodies/Batch" }
      responses:
        "200": { $ref: "#/components/responses/BatchResultList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/RequestInProgress" }
        "410": { $ref: "#/components/responses/AnswerErased" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/BatchRefused" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/items/{id}:
    get:
      operationId: getEditorialItem
      tags: [editorial]
      summary: An item with its editorial fields
      description: Returns retracted and expired items too. An item that a restricted key does not see is a 404.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/EditorialItem" }
        "304": { $ref: "#/components/responses/EditorialNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    put:
      operationId: replaceItem
      tags: [editorial]
      summary: Replaces or creates an item
      description: >-
        Omitted fields are removed. The lock is `If-Match` or the body's `revision`: if both are given and differ, the
        response is 412; if both are missing, it is 428. With `If-None-Match: *`, the request only creates a new item. A
        write that changes nothing creates no version. A retracted item cannot be changed (410). A published item that
        becomes a draft is withdrawn: followers remove it, and its URL is 404.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/IfMatch" }
        - { $ref: "#/components/parameters/IfNoneMatchAny" }
      requestBody: { $ref: "#/components/requestBodies/ItemReplacement" }
      responses:
        "200": { $ref: "#/components/responses/EditorialItem" }
        "201": { $ref: "#/components/responses/EditorialItemCreated" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "410": { $ref: "#/components/responses/EditorialGone" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    patch:
      operationId: changeItem
      tags: [editorial]
      summary: Changes fields of an item
      description: >-
        JSON Merge Patch (RFC 7396): omitted fields are unchanged, and null removes a field. The lock is the same as for
        PUT.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/IfMatch" }
      requestBody: { $ref: "#/components/requestBodies/ItemPatch" }
      responses:
        "200": { $ref: "#/components/responses/EditorialItem" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "410": { $ref: "#/components/responses/EditorialGone" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    delete:
      operationId: retractItem
      tags: [editorial]
      summary: Retracts an item permanently
      description: >-
        Followers remove the item, and its public URL returns 410 with the reason. So do the URLs of its files, unless a
        published item uses them. The lock is `If-Match` (428 without it); `If-Match: *` retracts any revision.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/Reason" }
        - { $ref: "#/components/parameters/IfMatch" }
      responses:
        "204": { $ref: "#/components/responses/Retracted" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "410": { $ref: "#/components/responses/EditorialGone" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/items/{id}/erase:
    post:
      operationId: eraseItem
      tags: [editorial]
      summary: Erases the texts of a retracted item permanently
      description: >-
        Title, summary, text, HTML, URL, author, language, attachments, the reason of the retraction and the source of
        an import are removed from the database, together with the files that no other item uses. The id, dates, topics
        and state of the item are kept: followers still receive its removal, its URL returns 410, and an import does not
        restore it. Only a retracted item can be erased (409 `not-retracted` otherwise). The request may be repeated.
        `If-Match` is evaluated but not required, because a retracted item does not change.
      security:
        - key: ["items:publish"]
      parameters:
        - { $ref: "#/components/parameters/IdempotencyKey" }
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/EraseReason" }
        - { $ref: "#/components/parameters/IfMatch" }
      responses:
        "204": { $ref: "#/components/responses/Removed" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/NotRetracted" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/subscriptions:
    get:
      operationId: getSubscriptions
      tags: [editorial]
      summary: All subscriptions, ordered by address
      security:
        - key: [admin]
      responses:
        "200": { $ref: "#/components/responses/SubscriptionList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    post:
      operationId: createSubscription
      tags: [editorial]
      summary: Follows a feed
      description: >-
        A server polls the feed at once, and from then on at intervals that follow the feed's own cadence and hints. The
        address is stored in its normal form. An address that another subscription has is refused. If the address is that
        of a page that links to a feed, the first poll replaces it by the address of the feed; without such a link,
        `lastError` says so.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/IdempotencyKey" }
      requestBody: { $ref: "#/components/requestBodies/NewSubscription" }
      responses:
        "201": { $ref: "#/components/responses/SubscriptionCreated" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/AlreadyFollowed" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/subscriptions/{id}:
    get:
      operationId: getSubscription
      tags: [editorial]
      summary: A subscription with its revision
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/SubscriptionID" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/Subscription" }
        "304": { $ref: "#/components/responses/EditorialNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    patch:
      operationId: modifySubscription
      tags: [editorial]
      summary: Changes a subscription
      description: >-
        A JSON Merge Patch (RFC 7396). The lock is the same as for items. A feed with a new address, or one that was paused, is
        polled at once, or at the end of a wait that its server has demanded. Changes of topics, state and language apply to new and changed entries.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/SubscriptionID" }
        - { $ref: "#/components/parameters/IfMatch" }
      requestBody: { $ref: "#/components/requestBodies/SubscriptionPatch" }
      responses:
        "200": { $ref: "#/components/responses/Subscription" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/AlreadyFollowed" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    delete:
      operationId: removeSubscription
      tags: [editorial]
      summary: Stops following a feed
      description: Its items stay.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/SubscriptionID" }
        - { $ref: "#/components/parameters/IfMatch" }
      responses:
        "204": { $ref: "#/components/responses/Removed" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/subscriptions/{id}/poll:
    post:
      operationId: pollSubscription
      tags: [editorial]
      summary: Polls a feed soon
      description: >-
        Makes the feed due now, so that a server polls it within seconds. If the server of the feed has asked for a wait
        (`Retry-After`), the feed is polled at its end; `nextPoll` is the time. The result is in `lastSuccess` and
        `lastError` afterwards.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/SubscriptionID" }
        - { $ref: "#/components/parameters/IdempotencyKey" }
      responses:
        "202": { $ref: "#/components/responses/PollRequested" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/SubscriptionPaused" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/pushes:
    get:
      operationId: getPushes
      tags: [editorial]
      summary: The pushes to devices, newest first
      description: >-
        `Link` has the URL of the next page. A key that is restricted to topics receives the pushes whose
        `item` it sees.
      security:
        - key: [push:send]
      parameters:
        - { $ref: "#/components/parameters/Limit" }
        - name: before
          in: query
          description: The id of the push before the page.
          schema: { $ref: "#/components/schemas/ItemID" }
      responses:
        "200": { $ref: "#/components/responses/PushList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    post:
      operationId: requestAlert
      tags: [editorial]
      summary: Requests an alert for an item, or counts its audience
      description: >-
        An item has at most one alert. It is made when the item is published; a published item has it a moment later. With `dryRun`
        nothing is sent, and the response counts the devices that the alert would reach.
      security:
        - key: [push:send]
      parameters:
        - { $ref: "#/components/parameters/IdempotencyKey" }
      requestBody: { $ref: "#/components/requestBodies/AlertRequest" }
      responses:
        "200": { $ref: "#/components/responses/AlertRequest" }
        "202": { $ref: "#/components/responses/AlertRequested" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/RequestInProgress" }
        "410": { $ref: "#/components/responses/EditorialGone" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/pushes/{id}:
    get:
      operationId: getPush
      tags: [editorial]
      summary: A push to devices
      description: A push whose `item` a restricted key does not see is a 404.
      security:
        - key: [push:send]
      parameters:
        - name: id
          in: path
          required: true
          description: A UUID; other values result in a 404.
          schema: { $ref: "#/components/schemas/ItemID" }
      responses:
        "200": { $ref: "#/components/responses/Push" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/webhooks:
    get:
      operationId: getWebhooks
      tags: [editorial]
      summary: All webhooks, oldest first
      security:
        - key: [admin]
      responses:
        "200": { $ref: "#/components/responses/WebhookList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    post:
      operationId: createWebhook
      tags: [editorial]
      summary: Adds a program that is notified of changes
      description: >-
        From then on, the server sends a signed POST to the address for each event of an item that has one of the topics. The
        signatures are those of Standard Webhooks 1.0. The response is the only one that has the secret. The answer to a repetition
        with the same `Idempotency-Key` has no secret, which `rotate` then replaces. There may be 100 webhooks.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/IdempotencyKey" }
      requestBody: { $ref: "#/components/requestBodies/NewWebhook" }
      responses:
        "201": { $ref: "#/components/responses/WebhookCreated" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/WebhookLimit" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/webhooks/{id}:
    get:
      operationId: getWebhook
      tags: [editorial]
      summary: A webhook with its revision
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/WebhookID" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/Webhook" }
        "304": { $ref: "#/components/responses/EditorialNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    patch:
      operationId: modifyWebhook
      tags: [editorial]
      summary: Changes a webhook
      description: >-
        A JSON Merge Patch (RFC 7396). The lock is the same as for items. `paused` false resumes a webhook, also one that the
        server has paused; what was due is then sent. Events during a pause are not sent later: a receiver catches up with
        `/v1/changes` and the token of the last event that it has.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/WebhookID" }
        - { $ref: "#/components/parameters/IfMatch" }
      requestBody: { $ref: "#/components/requestBodies/WebhookPatch" }
      responses:
        "200": { $ref: "#/components/responses/Webhook" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    delete:
      operationId: removeWebhook
      tags: [editorial]
      summary: Deletes a webhook and its log
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/WebhookID" }
        - { $ref: "#/components/parameters/IfMatch" }
      responses:
        "204": { $ref: "#/components/responses/Removed" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/webhooks/{id}/rotate:
    post:
      operationId: rotateWebhook
      tags: [editorial]
      summary: Replaces the secret of a webhook
      description: >-
        The response is the only one that has the new secret. For 24 hours, requests have two signatures, also by the former
        secret. A secret that was replaced before ends at once. The answer to a repetition with the same `Idempotency-Key` has no
        secret.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/WebhookID" }
        - { $ref: "#/components/parameters/IdempotencyKey" }
      responses:
        "200": { $ref: "#/components/responses/WebhookRotated" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/RequestInProgress" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/webhooks/{id}/test:
    post:
      operationId: testWebhook
      tags: [editorial]
      summary: Sends a test event
      description: >-
        The event has the type `webhook.test` and one attempt, whose result is in the deliveries within seconds.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/WebhookID" }
        - { $ref: "#/components/parameters/IdempotencyKey" }
      responses:
        "202": { $ref: "#/components/responses/WebhookDelivery" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/WebhookPaused" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/webhooks/{id}/deliveries:
    get:
      operationId: getWebhookDeliveries
      tags: [editorial]
      summary: The deliveries of 30 days with their attempts, newest first
      description: >-
        Each delivery has its last 20 attempts. `Link` has the URL of the next page. The erasure of an item deletes its deliveries.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/WebhookID" }
        - { $ref: "#/components/parameters/Limit" }
        - { $ref: "#/components/parameters/Cursor" }
      responses:
        "200": { $ref: "#/components/responses/WebhookDeliveryList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/webhooks/{id}/deliveries/{delivery}/replay:
    post:
      operationId: replayWebhookDelivery
      tags: [editorial]
      summary: Sends an event again
      description: >-
        Makes a delivery in any state due now, with all attempts again. The request has the same `webhook-id`, by which a receiver
        recognises an event that it has already. An attempt that is under way is not repeated.
      security:
        - key: [admin]
      parameters:
        - { $ref: "#/components/parameters/WebhookID" }
        - { $ref: "#/components/parameters/WebhookDeliveryID" }
        - { $ref: "#/components/parameters/IdempotencyKey" }
      responses:
        "202": { $ref: "#/components/responses/WebhookDelivery" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/WebhookPaused" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/history:
    get:
      operationId: getHistory
      tags: [editorial]
      summary: The writes to all items, newest first
      description: >-
        Each entry has the author, the time and the changed fields of a write. Writes of before the server had a history are
        missing, and those that were removed from it (`TIDINGS_HISTORY_KEEP`). A key that is restricted to topics receives the writes to its items, without those that were made, or that
        ended, while an item had other topics. `Link` has the URL of the next page.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/Limit" }
        - { $ref: "#/components/parameters/Cursor" }
      responses:
        "200": { $ref: "#/components/responses/HistoryList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/items/{id}/history:
    get:
      operationId: getItemHistory
      tags: [editorial]
      summary: The writes to an item, newest first
      description: >-
        The entries of `GET /v1/editorial/history` for one item, in any state. An erased item has only its erasure and later
        writes. `incomplete` on the last page says that older writes are not stored.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/Limit" }
        - { $ref: "#/components/parameters/Cursor" }
      responses:
        "200": { $ref: "#/components/responses/HistoryList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/items/{id}/history/{revision}/restore:
    post:
      operationId: restoreRevision
      tags: [editorial]
      summary: Restores the content of an earlier revision
      description: >-
        A write like any other: it makes a new revision with the date, texts, topics, language, URL, author, attachments and
        `breaking` of the earlier one. The state, `publishAt` and `expireAt` remain, so that a published item stays published.
        The lock is `If-Match` (428 without it). 404 if the revision does not exist, or is of a time at which the item had topics
        that the key lacks. 410 `revision-removed` if the history of the item begins later.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/IdempotencyKey" }
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/Revision" }
        - { $ref: "#/components/parameters/IfMatch" }
      responses:
        "200": { $ref: "#/components/responses/EditorialItem" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/RequestInProgress" }
        "410": { $ref: "#/components/responses/RevisionGone" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/topics:
    get:
      operationId: getEditorialTopics
      tags: [editorial]
      summary: All topics with their revisions
      security:
        - key: ["items:write"]
      responses:
        "200": { $ref: "#/components/responses/EditorialTopicList" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    post:
      operationId: createTopic
      tags: [editorial]
      summary: Creates a topic
      description: >-
        The request may be repeated: the same content returns 200, other content 409.
      security:
        - key: ["items:publish"]
      parameters:
        - { $ref: "#/components/parameters/IdempotencyKey" }
      requestBody: { $ref: "#/components/requestBodies/NewTopic" }
      responses:
        "200": { $ref: "#/components/responses/EditorialTopic" }
        "201": { $ref: "#/components/responses/EditorialTopicCreated" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/Conflict" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/editorial/topics/{slug}:
    get:
      operationId: getEditorialTopic
      tags: [editorial]
      summary: A topic with its revision
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/EditorialTopic" }
        "304": { $ref: "#/components/responses/EditorialNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    put:
      operationId: replaceTopic
      tags: [editorial]
      summary: Replaces the titles and the position of a topic
      description: The lock is the same as for items. A slug never changes.
      security:
        - key: ["items:publish"]
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/IfMatch" }
      requestBody: { $ref: "#/components/requestBodies/TopicReplacement" }
      responses:
        "200": { $ref: "#/components/responses/EditorialTopic" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    delete:
      operationId: removeTopic
      tags: [editorial]
      summary: Deletes a topic, or merges it into another one
      description: >-
        Without `mergeInto`, the topic must have no items but retracted ones. With it, its items receive the other topic, and
        each published one a new version. Followers of the deleted topic receive the removal of its items, and afterwards an
        empty topic. Devices follow the other topic instead, or lose the deleted one. The items are moved in several steps; if
        the request fails, a repeat continues.
      security:
        - key: ["items:publish"]
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/MergeInto" }
        - { $ref: "#/components/parameters/IfMatch" }
      responses:
        "204": { $ref: "#/components/responses/Removed" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "404": { $ref: "#/components/responses/EditorialNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "409": { $ref: "#/components/responses/TopicInUse" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "428": { $ref: "#/components/responses/PreconditionRequired" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /:
    get:
      operationId: getFrontPage
      tags: [pages]
      summary: The feed as a page
      description: >-
        The newest items as HTML, with links to pages of older ones. Pages depend on no header and no cookie, and ignore
        unknown query parameters, because links that readers share collect them. They run no script, besides that of the
        button for notifications on lists, if the server offers Web Push. With `TIDINGS_READER_PAGES=false`, all addresses
        of pages and of their files are 404.
      parameters:
        - { $ref: "#/components/parameters/PageBefore" }
        - { $ref: "#/components/parameters/PageAfter" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/Page" }
        "304": { $ref: "#/components/responses/PageNotModified" }
        "400": { $ref: "#/components/responses/PageBadRequest" }
        "404": { $ref: "#/components/responses/NoPages" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/PageError" }
        "503": { $ref: "#/components/responses/PageUnavailable" }
    head:
      operationId: headFrontPage
      tags: [pages]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/PageBefore" }
        - { $ref: "#/components/parameters/PageAfter" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/PageHead" }
        "304": { $ref: "#/components/responses/PageNotModified" }
        "400": { $ref: "#/components/responses/PageBadRequestHead" }
        "404": { $ref: "#/components/responses/NoPagesHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/PageErrorHead" }
        "503": { $ref: "#/components/responses/PageUnavailableHead" }

  /topics/{slug}:
    get:
      operationId: getTopicPage
      tags: [pages]
      summary: A topic as a page
      description: >-
        The newest items of a topic as HTML.
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/PageBefore" }
        - { $ref: "#/components/parameters/PageAfter" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/Page" }
        "304": { $ref: "#/components/responses/PageNotModified" }
        "400": { $ref: "#/components/responses/PageBadRequest" }
        "404": { $ref: "#/components/responses/PageNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/PageError" }
        "503": { $ref: "#/components/responses/PageUnavailable" }
    head:
      operationId: headTopicPage
      tags: [pages]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/Slug" }
        - { $ref: "#/components/parameters/PageBefore" }
        - { $ref: "#/components/parameters/PageAfter" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/PageHead" }
        "304": { $ref: "#/components/responses/PageNotModified" }
        "400": { $ref: "#/components/responses/PageBadRequestHead" }
        "404": { $ref: "#/components/responses/PageNotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/PageErrorHead" }
        "503": { $ref: "#/components/responses/PageUnavailableHead" }

  /items/{id}:
    get:
      operationId: getItemPage
      tags: [pages]
      summary: An item as a page
      description: >-
        The item as HTML: its sanitised `html`, or else its text. This is the permanent link of the item for readers.
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/Page" }
        "304": { $ref: "#/components/responses/PageNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/PageNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "410": { $ref: "#/components/responses/PageGone" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/PageError" }
        "503": { $ref: "#/components/responses/PageUnavailable" }
    head:
      operationId: headItemPage
      tags: [pages]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/ItemID" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/PageHead" }
        "304": { $ref: "#/components/responses/PageNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/PageNotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "410": { $ref: "#/components/responses/PageGoneHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/PageErrorHead" }
        "503": { $ref: "#/components/responses/PageUnavailableHead" }

  /assets/{name}:
    get:
      operationId: getAsset
      tags: [pages]
      summary: A stylesheet, script or picture of pages
      parameters:
        - { $ref: "#/components/parameters/AssetName" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/Asset" }
        "304": { $ref: "#/components/responses/AssetNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headAsset
      tags: [pages]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/AssetName" }
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/AssetHead" }
        "304": { $ref: "#/components/responses/AssetNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NotFoundHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightAsset
      tags: [pages]
      summary: CORS preflight
      parameters:
        - { $ref: "#/components/parameters/AssetName" }
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }

  /worker.js:
    get:
      operationId: getWorker
      tags: [pages]
      summary: The service worker of pages
      description: >-
        The script that shows pushes in browsers which have registered on a page.
      parameters:
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/Worker" }
        "304": { $ref: "#/components/responses/WorkerNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "404": { $ref: "#/components/responses/NoPages" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headWorker
      tags: [pages]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/IfNoneMatch" }
        - { $ref: "#/components/parameters/IfModifiedSince" }
      responses:
        "200": { $ref: "#/components/responses/WorkerHead" }
        "304": { $ref: "#/components/responses/WorkerNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "404": { $ref: "#/components/responses/NoPagesHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightWorker
      tags: [pages]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
  /v1/push:
    get:
      operationId: getPushOffer
      tags: [devices]
      summary: The push services that devices can register for
      responses:
        "200": { $ref: "#/components/responses/PushOffer" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headPushOffer
      tags: [devices]
      summary: The headers of the same GET
      responses:
        "200": { $ref: "#/components/responses/PushOfferHead" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightPushOffer
      tags: [devices]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/devices:
    post:
      operationId: registerDevice
      tags: [devices]
      summary: Registers a device for pushes
      description: >-
        The registration is valid for 90 days from the last PUT; clients renew it weekly. An address that is registered already
        gets a new secret, and the old one is void. A device with Web Push receives a first push with a code, which it returns to
        `/v1/devices/{id}/confirmation` within an hour; before that, it receives no other push.
      requestBody: { $ref: "#/components/requestBodies/DeviceRegistration" }
      responses:
        "201": { $ref: "#/components/responses/DeviceRegistered" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyDevices" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    options:
      operationId: preflightDevices
      tags: [devices]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/DevicePreflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/devices/{id}:
    put:
      operationId: renewDevice
      tags: [devices]
      summary: Renews a registration, or changes it
      security:
        - deviceSecret: []
      parameters:
        - { $ref: "#/components/parameters/DeviceID" }
      requestBody: { $ref: "#/components/requestBodies/DeviceRegistration" }
      responses:
        "200": { $ref: "#/components/responses/DeviceRenewed" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "404": { $ref: "#/components/responses/DeviceNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyDevices" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    delete:
      operationId: removeDevice
      tags: [devices]
      summary: Ends a registration
      security:
        - deviceSecret: []
      parameters:
        - { $ref: "#/components/parameters/DeviceID" }
      responses:
        "204": { $ref: "#/components/responses/DeviceDone" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "404": { $ref: "#/components/responses/DeviceNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    options:
      operationId: preflightDevice
      tags: [devices]
      summary: CORS preflight
      parameters:
        - { name: id, in: path, required: true, description: Ignored., schema: { type: string } }
      responses:
        "204": { $ref: "#/components/responses/DevicePreflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/devices/{id}/confirmation:
    put:
      operationId: confirmDevice
      tags: [devices]
      summary: Returns the code of the first push
      description: >-
        A code other than that of the last push with a code is refused with 422, which names `code`. The right code may be sent
        again.
      security:
        - deviceSecret: []
      parameters:
        - { $ref: "#/components/parameters/DeviceID" }
      requestBody: { $ref: "#/components/requestBodies/DeviceConfirmation" }
      responses:
        "204": { $ref: "#/components/responses/DeviceDone" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "404": { $ref: "#/components/responses/DeviceNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    options:
      operationId: preflightDeviceConfirmation
      tags: [devices]
      summary: CORS preflight
      parameters:
        - { name: id, in: path, required: true, description: Ignored., schema: { type: string } }
      responses:
        "204": { $ref: "#/components/responses/DevicePreflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/devices/{id}/state:
    put:
      operationId: reportDevice
      tags: [devices]
      summary: Reports the news that the device has
      description: >-
        A device that has the news already is not woken for them. A device reports after a push that has `report`, and when it
        renews its registration. With the token of an unfinished snapshot, or of a part of the changes, it counts as one that has
        nothing.
      security:
        - deviceSecret: []
      parameters:
        - { $ref: "#/components/parameters/DeviceID" }
      requestBody: { $ref: "#/components/requestBodies/DeviceReport" }
      responses:
        "204": { $ref: "#/components/responses/DeviceDone" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "404": { $ref: "#/components/responses/DeviceNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "413": { $ref: "#/components/responses/BodyTooLarge" }
        "415": { $ref: "#/components/responses/UnsupportedMediaType" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "422": { $ref: "#/components/responses/InvalidField" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    options:
      operationId: preflightDeviceState
      tags: [devices]
      summary: CORS preflight
      parameters:
        - { name: id, in: path, required: true, description: Ignored., schema: { type: string } }
      responses:
        "204": { $ref: "#/components/responses/DevicePreflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /v1/websub/{token}:
    get:
      operationId: verifyHubLease
      tags: [hubs]
      summary: A WebSub hub asks whether a lease is wanted, or denies it
      description: >-
        The response to `subscribe` and `unsubscribe` is the challenge, if the server has requested this of the hub for the
        topic. All other requests return 404, by which the hub learns that the lease is not wanted. A `denied` lease is
        requested of the next hub of the feed. Other parameters are ignored.
      parameters:
        - { $ref: "#/components/parameters/HubToken" }
        - name: hub.mode
          in: query
          required: true
          schema: { type: string, enum: [subscribe, unsubscribe, denied] }
        - name: hub.topic
          in: query
          required: true
          description: The address of the feed.
          schema: { type: string, minLength: 1, maxLength: 2048 }
        - name: hub.challenge
          in: query
          description: A random text of at most 4096 bytes. Only `denied` has none.
          schema: { type: string, minLength: 1, maxLength: 4096 }
        - name: hub.lease_seconds
          in: query
          description: The duration of the lease, at most 90 days. The default is 10 days.
          schema: { type: integer, minimum: 0 }
        - name: hub.reason
          in: query
          description: Why the lease was denied. Administrators see the first KiB.
          schema: { type: string }
      responses:
        "200": { $ref: "#/components/responses/HubChallenge" }
        "404": { $ref: "#/components/responses/HubLeaseNotFound" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    post:
      operationId: receiveHubNotice
      tags: [hubs]
      summary: A WebSub hub notifies that a feed has changed
      description: >-
        The server polls the feed. It compares the body with the signature, and discards it. A notice without a valid
        signature is ignored; the response is the same.
      parameters:
        - { $ref: "#/components/parameters/HubToken" }
        - name: X-Hub-Signature
          in: header
          description: The HMAC of the body with the secret of the lease. The methods are sha1, sha256, sha384 and sha512.
          schema: { type: string }
          example: sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8
      requestBody:
        description: The feed, or a part of it.
        content:
          "*/*":
            schema: { type: string, maxLength: 16777216 }
      responses:
        "204": { $ref: "#/components/responses/HubNoticeReceived" }
        "400": { $ref: "#/components/responses/HubNoticeMalformed" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "410": { $ref: "#/components/responses/HubCallbackEnded" }
        "413": { $ref: "#/components/responses/HubNoticeTooLarge" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

  /healthz:
    get:
      operationId: getHealth
      tags: [operation]
      summary: Whether the process runs
      responses:
        "200": { $ref: "#/components/responses/Health" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headHealth
      tags: [operation]
      summary: The headers of the same GET
      responses:
        "200": { $ref: "#/components/responses/HealthHead" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }

  /readyz:
    get:
      operationId: getReadiness
      tags: [operation]
      summary: "Whether the server can respond: the database is known and was reachable recently enough"
      responses:
        "200": { $ref: "#/components/responses/Readiness" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headReadiness
      tags: [operation]
      summary: The headers of the same GET
      responses:
        "200": { $ref: "#/components/responses/HealthHead" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }

  /metrics:
    get:
      operationId: getMetrics
      tags: [operation]
      summary: Metrics for Prometheus
      description: >-
        Counters and gauges of this process, in the text format of Prometheus. Requests are counted by the pattern of
        their path, never by the path itself. The metrics are for the operator's network only; a proxy should not pass
        on this path.
      responses:
        "200": { $ref: "#/components/responses/Metrics" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headMetrics
      tags: [operation]
      summary: The headers of the same GET
      responses:
        "200": { $ref: "#/components/responses/MetricsHead" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }

  /openapi.yaml:
    get:
      operationId: getContract
      tags: [operation]
      summary: This document
      parameters:
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/Contract" }
        "304": { $ref: "#/components/responses/ContractNotModified" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "412": { $ref: "#/components/responses/PreconditionFailed" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }
    head:
      operationId: headContract
      tags: [operation]
      summary: The headers of the same GET
      parameters:
        - { $ref: "#/components/parameters/IfNoneMatch" }
      responses:
        "200": { $ref: "#/components/responses/ContractHead" }
        "304": { $ref: "#/components/responses/ContractNotModified" }
        "400": { $ref: "#/components/responses/BadRequestHead" }
        "408": { $ref: "#/components/responses/RequestTimeoutHead" }
        "412": { $ref: "#/components/responses/PreconditionFailedHead" }
        "417": { $ref: "#/components/responses/ExpectationFailedHead" }
        "429": { $ref: "#/components/responses/TooManyRequestsHead" }
        "431": { $ref: "#/components/responses/HeadersTooLargeHead" }
        "500": { $ref: "#/components/responses/InternalErrorHead" }
        "503": { $ref: "#/components/responses/UnavailableHead" }
    options:
      operationId: preflightContract
      tags: [public]
      summary: CORS preflight
      responses:
        "204": { $ref: "#/components/responses/Preflight" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
        "417": { $ref: "#/components/responses/ExpectationFailed" }
        "429": { $ref: "#/components/responses/TooManyRequests" }
        "431": { $ref: "#/components/responses/HeadersTooLarge" }
        "500": { $ref: "#/components/responses/InternalError" }
        "503": { $ref: "#/components/responses/Unavailable" }

components:
  securitySchemes:
    key:
      type: http
      scheme: bearer
      description: >-
        A key from `tidings keys create`. Its scopes determine its rights: `items:write` covers items in any state and the
        writes of drafts, `items:publish` in addition all that readers see or will see, topics included, and `media:write`
        files. A key may be restricted to topics and may expire. After a rotation, the old secret works until the overlap
        ends.
    deviceSecret:
      type: http
      scheme: bearer
      description: The `secret` of the device, from the response to its registration.

  parameters:
    DeviceID:
      name: id
      in: path
      required: true
      description: A UUID; other values result in a 404.
      schema: { $ref: "#/components/schemas/ItemID" }
    HubToken:
      name: token
      in: path
      required: true
      description: 128 random bits in base64url, different for each lease.
      schema: { type: string, pattern: "^[A-Za-z0-9_-]{22}$" }
    SubscriptionID:
      name: id
      in: path
      required: true
      description: A UUID; other values result in a 404.
      schema: { $ref: "#/components/schemas/ItemID" }
    WebhookID:
      name: id
      in: path
      required: true
      description: A UUID; other values result in a 404.
      schema: { $ref: "#/components/schemas/ItemID" }
    WebhookDeliveryID:
      name: delivery
      in: path
      required: true
      description: The id of a delivery, which its requests have in `webhook-id`; other values result in a 404.
      schema: { $ref: "#/components/schemas/ItemID" }
    IdempotencyKey:
      name: Idempotency-Key
      in: header
      description: >-
        Names the request, so that a repetition has no second effect: a string in quotes (RFC 8941) or a token, of 1 to 255
        ASCII characters. See "Repeating" at the top.
      schema: { type: string, minLength: 1, maxLength: 512 }
      example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"'
    ItemID:
      name: id
      in: path
      required: true
      description: A UUID; other values result in a 404.
      schema: { $ref: "#/components/schemas/ItemID" }
    UploadVersion:
      name: Upload-Draft-Interop-Version
      in: header
      required: true
      description: The version of draft-ietf-httpbis-resumable-upload.
      schema: { type: string, enum: ["6"] }
    UploadLength:
      name: Upload-Length
      in: header
      description: The number of bytes of the whole file, the same in all requests that have it.
      schema: { type: integer, minimum: 1 }
    PageBefore:
      name: before
      in: query
      description: A cursor from a link of the page; the page then shows the items before it.
      schema: { type: string }
    PageAfter:
      name: after
      in: query
      description: A cursor from a link of the page; the page then shows the items directly after it.
      schema: { type: string }
    AssetName:
      name: name
      in: path
      required: true
      description: The name of the file with a hash of its content, from the links of a page.
      schema: { type: string }
      example: reader-0123456789abcdef.css
    Revision:
      name: revision
      in: path
      required: true
      description: The number of a revision; other values result in a 404.
      schema: { type: integer, format: int64, minimum: 1 }
    Slug:
      name: slug
      in: path
      required: true
      description: A slug; other values result in a 404.
      schema: { $ref: "#/components/schemas/Slug" }
    Limit:
      name: limit
      in: query
      description: The maximum number of items in a page.
      schema: { type: integer, minimum: 1, maximum: 200, default: 50 }
    ChangeLimit:
      name: limit
      in: query
      description: The maximum number of changes in a page.
      schema: { type: integer, minimum: 1, maximum: 1000, default: 200 }
    Cursor:
      name: cursor
      in: query
      description: The opaque start of a page, taken from `Link`. It is valid only with the same filters.
      schema: { type: string, minLength: 1 }
    Topics:
      name: topics
      in: query
      description: >-
        Only entries in at least one of these topics: 1 to 32 slugs, separated by commas. An unknown slug results in a
        400.
      style: form
      explode: false
      example: [harbour, sport]
      schema: { type: array, minItems: 1, maxItems: 32, items: { $ref: "#/components/schemas/Slug" } }
    Language:
      name: language
      in: query
      description: Only items in this language.
      schema: { $ref: "#/components/schemas/LanguageTag" }
    Author:
      name: author
      in: query
      description: Only items of this author. The name must match exactly and has at most 256 bytes.
      schema: { type: string, minLength: 1, maxLength: 256 }
    From:
      name: from
      in: query
      description: Only items with this date (RFC 3339) or a later one.
      example: "2026-11-01T00:00:00Z"
      schema: { type: string, format: date-time }
    To:
      name: to
      in: query
      description: Only items before this date (RFC 3339).
      example: "2026-11-15T00:00:00+01:00"
      schema: { type: string, format: date-time }
    Breaking:
      name: breaking
      in: query
      description: Only items that are breaking news, or only those that are not.
      schema: { type: boolean }
    Search:
      name: q
      in: query
      description: >-
        Only items that contain all of these words and "phrases in double quotes" in title, summary or text, and none of
        the words or phrases after a -minus sign. The value has at most 256 bytes. Case is ignored. Words are matched as
        they are written; with `language`, also in their other forms. A search that takes longer than a second results
        in a 503 (`search-too-broad`).
      examples:
        words: { value: election result }
        phrase: { value: '"city council" -mayor' }
      schema: { type: string, minLength: 1, maxLength: 256 }
    Include:
      name: include
      in: query
      description: >-
        `html` adds the HTML of the items.
      schema: { type: string, enum: [html] }
    Since:
      name: since
      in: query
      description: >-
        The token of the last response. A malformed token results in a 400. A token of another scope, or of a history
        that no longer exists, results in a 410 with a current token.
      schema: { $ref: "#/components/schemas/SyncToken" }
    EventsSince:
      name: since
      in: query
      description: >-
        The token of the client's state, for clients that cannot send `Last-Event-ID`. The token of any response for the
        scope is accepted. If it is no longer valid, the stream begins with `resync`.
      schema: { $ref: "#/components/schemas/SyncToken" }
    LastEventID:
      name: Last-Event-ID
      in: header
      description: The `id` of the last event of an earlier stream of the same scope. It takes precedence over `since`.
      schema: { type: string }
    Wait:
      name: wait
      in: query
      description: >-
        The number of seconds for which the response may wait for a change after `since`, which is required. The
        response is sent as soon as there is a change. When the time is over or the server is about to shut down, the
        response says that nothing is new. Caches do not store it.
      schema: { type: integer, minimum: 1, maximum: 50 }
    At:
      name: at
      in: query
      description: >-
        A token from a push, an event or a 410. The response has this version or a later one. If the version is not
        reached within a second, the response is a 503. The token is part of the URL, so no cache returns an earlier
        response.
      schema: { $ref: "#/components/schemas/SyncToken" }
    MergeInto:
      name: mergeInto
      in: query
      description: Another topic, which the items receive in place of the deleted one.
      schema: { $ref: "#/components/schemas/Slug" }
    Used:
      name: used
      in: query
      description: Only files that items in any state use, or only those that none uses.
      schema: { type: boolean }
    State:
      name: state
      in: query
      description: Only items in this state.
      schema: { $ref: "#/components/schemas/State" }
    Reason:
      name: reason
      in: query
      description: The reason, in words for readers, at most 512 bytes. The public 410 contains it.
      schema: { type: string, minLength: 1, maxLength: 512 }
    EraseReason:
      name: reason
      in: query
      description: >-
        The reason, in words for readers, at most 512 bytes. It replaces the reason of the retraction, which is erased
        too.
      schema: { type: string, minLength: 1, maxLength: 512 }
    Archive:
      name: archive
      in: query
      description: >-
        The number of an archive, from 1. An archive that does not exist yet is a 404.
      schema: { type: integer, minimum: 1, maximum: 1000000000 }
      example: 3
    InstanceManipulation:
      name: A-IM
      in: header
      description: >-
        `feed` requests the changes since the document that is named in `If-None-Match` (RFC 3229).
      schema: { type: string }
      example: feed
    IfNoneMatch:
      name: If-None-Match
      in: header
      description: >-
        The entity tags that the client has stored, or `*`. They are compared weakly and take precedence over
        `If-Modified-Since`.
      schema: { type: string }
    IfModifiedSince:
      name: If-Modified-Since
      in: header
      description: >-
        For clients without entity tags: the `Last-Modified` of the stored response.
      schema: { type: string }
    Range:
      name: Range
      in: header
      description: The requested bytes (RFC 9110 section 14.2).
      schema: { type: string }
      example: bytes=1048576-
    IfRange:
      name: If-Range
      in: header
      description: The `ETag` or `Last-Modified` of the file to which the range must belong.
      schema: { type: string }
    IfMatch:
      name: If-Match
      in: header
      description: The revision that the change is based on, as the entity tag of the last response.
      example: '"r7"'
      schema: { type: string }
    IfNoneMatchAny:
      name: If-None-Match
      in: header
      description: >-
        `*` creates a new item, and results in a 412 if the item exists. Any other value results in a 400.
      schema: { type: string, pattern: '^\*$' }

  headers:
    UploadVersion:
      description: The supported version of draft-ietf-httpbis-resumable-upload.
      schema: { type: string, const: "6" }
    UploadOffset:
      description: The number of bytes so far.
      schema: { type: integer, minimum: 0 }
    UploadComplete:
      description: Whether the file is complete.
      schema: { type: string, enum: ["?0", "?1"] }
    UploadLimit:
      description: >-
        The maximum size of a file in bytes, and the seconds after the last progress at which an unfinished upload expires.
      schema: { type: string, pattern: "^max-size=[0-9]+, expires=[0-9]+$" }
      example: max-size=2147483648, expires=86400
    ProgressRetryAfter:
      description: >-
        Sent with `request-in-progress`: the time in seconds after which the request may be repeated.
      schema: { type: integer, minimum: 1 }
    IdempotencyReplayed:
      description: >-
        Present if the request was carried out before, with the same `Idempotency-Key`. The response is the answer to the
        first request.
      schema: { type: string, const: "true" }
    AllowOrigin:
      description: Any origin may read.
      required: true
      schema: { type: string, const: "*" }
    ExposeHeaders:
      description: Scripts of other origins may read all header fields.
      required: true
      schema: { type: string, const: "*" }
    ErrorAllowOrigin:
      description: >-
        Sent on public paths: any origin may read.
      schema: { type: string, const: "*" }
    ErrorExposeHeaders:
      description: Sent on public paths.
      schema: { type: string, const: "*" }
    Vary:
      description: Responses of 1 KiB or more are compressed if the client accepts it.
      required: true
      schema: { type: string, const: Accept-Encoding }
    ErrorVary:
      description: Sent on public paths.
      schema: { type: string, const: Accept-Encoding }
    ContentEncoding:
      description: Sent with compressed responses, whose entity tag has a separate suffix.
      schema: { type: string, const: gzip }
    PublicCacheControl:
      description: >-
        Clients always revalidate. Shared caches keep the response for `s-maxage` seconds and may serve it stale for
        `stale-while-revalidate` seconds, together 10 s.
      required: true
      schema: { type: string, pattern: "^max-age=0, s-maxage=[1-9][0-9]*, stale-while-revalidate=[0-9]+, stale-if-error=[0-9]+$" }
      example: "max-age=0, s-maxage=1, stale-while-revalidate=9, stale-if-error=300"
    CacheStatus:
      description: |
        Sent with a response that may be outdated because the database does not respond. `ttl` is negative: its absolute
        value is the number of seconds since the response was last known to be current (RFC 9211). The field is absent
        otherwise.
      schema: { type: string, pattern: "^Tidings; hit; ttl=-[1-9][0-9]*$" }
    ChangesCacheControl:
      description: The same as for other public responses; `no-store` if the request has `wait`.
      required: true
      schema: { type: string, pattern: "^(max-age=0, s-maxage=[1-9][0-9]*, stale-while-revalidate=[0-9]+, stale-if-error=[0-9]+|no-store)$" }
      example: "max-age=0, s-maxage=1, stale-while-revalidate=9, stale-if-error=300"
    BriefCacheControl:
      description: The response is stored for a second, so that it replaces an older 200 in shared caches.
      required: true
      schema: { type: string, const: "max-age=0, s-maxage=1" }
    GoneCacheControl:
      description: The same as for other responses that replace a 200; `no-store` if the request has `wait`.
      required: true
      schema: { type: string, enum: ["max-age=0, s-maxage=1", no-store] }
      example: "max-age=0, s-maxage=1"
    NoStore:
      description: The response must not be stored.
      required: true
      schema: { type: string, const: no-store }
    PrivateNoStore:
      description: The response is private and must not be stored.
      required: true
      schema: { type: string, const: "private, no-store" }
    FileCacheControl:
      description: >-
        The content never changes, so a client keeps it for an hour. Shared caches revalidate it as often as other
        public responses, because a file can be taken down; the usual response is a 304.
      required: true
      schema: { type: string, pattern: "^max-age=3600, s-maxage=[1-9][0-9]*, stale-while-revalidate=[0-9]+, stale-if-error=[0-9]+$" }
      example: "max-age=3600, s-maxage=1, stale-while-revalidate=9, stale-if-error=300"
    AcceptRanges:
      description: Byte ranges are supported.
      required: true
      schema: { type: string, const: bytes }
    ContentRange:
      description: The range of this part, and the size of the file.
      required: true
      schema: { type: string, pattern: "^bytes [0-9]+-[0-9]+/[0-9]+$" }
      example: bytes 1048576-2097151/2097152
    UnsatisfiedRange:
      description: The size of the file in bytes.
      required: true
      schema: { type: string, pattern: "^bytes \\*/[0-9]+$" }
      example: bytes */2097152
    Disposition:
      description: The file is displayed inline; the field also has the name under which it is saved (RFC 6266).
      required: true
      schema: { type: string, pattern: "^inline(; filename=\"[^\"]*\"(; filename\\*=UTF-8''[^;]+)?)?$" }
      example: inline; filename="ferry.jpg"
    ContentSecurityPolicy:
      description: >-
        Only the stylesheet, pictures and recordings are loaded. Nothing runs, besides the script of the button for
        notifications on lists, if the server offers Web Push.
      required: true
      schema:
        type: string
        enum:
          - >-
            default-src 'none'; style-src 'self'; img-src 'self' https:; media-src 'self' https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
          - >-
            default-src 'none'; style-src 'self'; img-src 'self' https:; media-src 'self' https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'
      example: >-
        default-src 'none'; style-src 'self'; img-src 'self' https:; media-src 'self' https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
    WorkerContentSecurityPolicy:
      description: The worker only sends requests to this server.
      required: true
      schema: { type: string, const: "default-src 'none'; connect-src 'self'" }
    ErrorContentSecurityPolicy:
      description: Sent with pages.
      schema: { type: string, minLength: 1 }
    ReferrerPolicy:
      description: Links reveal nothing to other sites.
      required: true
      schema: { type: string, const: no-referrer }
    ErrorReferrerPolicy:
      description: Sent with pages.
      schema: { type: string, const: no-referrer }
    ErrorNoSniff:
      description: Sent with pages.
      schema: { type: string, const: nosniff }
    AssetCacheControl:
      description: >-
        The content of an address never changes. An address with the hash of another version, from a page in a cache,
        returns the current file, which is stored for a second.
      required: true
      schema: { type: string, enum: ["max-age=31536000, immutable", "max-age=0, s-maxage=1"] }
      example: "max-age=31536000, immutable"
    WorkerCacheControl:
      description: A browser that has the script asks whether there is a new one.
      required: true
      schema: { type: string, const: no-cache }
    NoSniff:
      description: Clients must not guess another type than that of `Content-Type`.
      required: true
      schema: { type: string, const: nosniff }
    ReprDigest:
      description: The SHA-256 digest of the whole file (RFC 9530), also in the response with a part.
      required: true
      schema: { type: string, pattern: "^sha-256=:[A-Za-z0-9+/]{43}=:$" }
      example: "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
    Uploaded:
      description: The time at which the file was first stored.
      required: true
      schema: { type: string, pattern: "^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$" }
      example: "Sat, 14 Nov 2026 06:30:00 GMT"
    MediaLocation:
      description: The public URL of the file.
      required: true
      schema: { type: string, pattern: "^/v1/media/[0-9a-f-]{36}$" }
      example: /v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
    ETag:
      description: >-
        A strong entity tag, derived only from the content and its `Link`. It is equal on every replica and after a
        restart, and has at most 60 bytes.
      required: true
      schema: { type: string, maxLength: 60, pattern: '^"[!#-~]+"$' }
      example: '"2f1d6a90c7b84e33"'
    FeedETag:
      description: >-
        A strong entity tag of at most 60 bytes. That of a current document is the token of its items, a point, and a digest
        of the settings of feeds. In a 226, it is the tag of the whole document that the changes lead to.
      required: true
      schema: { type: string, maxLength: 60, pattern: '^"[!#-~]+"$' }
      example: '"1k3v9q20m1xe.2s.5c0f1a92b7de"'
    FeedLink:
      description: The hubs of the feed and its URL, for subscribers (WebSub); only if the server has a hub.
      schema: { type: string, pattern: '^<[^>]+>; rel="hub"(, <[^>]+>; rel="(hub|self)")+$' }
      example: '<https://hub.example/>; rel="hub", <https://news.example/feed.atom>; rel="self"'
    FeedChangesCacheControl:
      description: Only a cache that knows RFC 3229 may store the response.
      required: true
      schema: { type: string, const: "no-store, im" }
    FeedChangesVary:
      description: The response depends on the document that the client has.
      required: true
      schema: { type: string, const: "A-IM, If-None-Match, Accept-Encoding" }
    InstanceManipulation:
      description: The body has the changes since the document that the client has (RFC 3229).
      required: true
      schema: { type: string, const: feed }
    RevisionETag:
      description: The revision, for `If-Match`.
      required: true
      schema: { type: string, pattern: '^"r[1-9][0-9]*"$' }
      example: '"r7"'
    OptionalRevisionETag:
      description: The revision after the write.
      schema: { type: string, pattern: '^"r[1-9][0-9]*"$' }
    LastModified:
      description: >-
        The time of the last change of the response. It is omitted until the named second is over. For a file, which
        never changes, it is sent at once.
      schema: { type: string, pattern: "^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$" }
      example: "Sat, 14 Nov 2026 06:30:00 GMT"
    SyncToken:
      description: The current token of the scope, for `since`. It is never newer than the body.
      required: true
      schema: { $ref: "#/components/schemas/SyncToken" }
    OptionalSyncToken:
      description: The current token of the scope. It is never newer than the body.
      schema: { $ref: "#/components/schemas/SyncToken" }
    Link:
      description: The next page, if it exists (RFC 8288). The URL is relative.
      schema: { type: string, pattern: '^</v1/[^>]+>; rel="next"$' }
      example: '</v1/items?cursor=Zm9sbG93&limit=50>; rel="next"'
    PollInterval:
      description: >-
        The number of seconds after which the next request is worthwhile. It is derived from how often the feed changes
        at this time of day and at present, and omitted until that is known. A long poll receives it only when the
        server shuts down. The values then differ between clients, so that the clients do not return all at once.
      schema: { type: integer, minimum: 1, maximum: 3600 }
    WaitRequestID:
      description: The same as for other responses that are not stored. Sent only if the request has `wait`.
      schema: { type: string, minLength: 1, maxLength: 128 }
    OptionalRequestID:
      description: The id of the request in the logs of the server, with a response that is not stored.
      schema: { type: string, minLength: 1, maxLength: 128 }
    RequestID:
      description: The id of the request in the logs of the server.
      required: true
      schema: { type: string, minLength: 1, maxLength: 128 }
    RetryAfter:
      description: The number of seconds to wait.
      required: true
      schema: { type: string, pattern: "^[0-9]+$" }
      example: "1"
    Location:
      description: The URL of the new resource.
      required: true
      schema: { type: string, pattern: "^/v1/editorial/" }
      example: /v1/editorial/items/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
    Authenticate:
      description: >-
        The scheme, and the error of the key (RFC 6750): `invalid_token`, or `insufficient_scope`, which names a scope
        that is required.
      required: true
      schema: { type: string, pattern: "^Bearer" }
      example: 'Bearer realm="tidings", error="insufficient_scope", scope="items:write"'
    Allow:
      description: The methods of the resource.
      required: true
      schema: { type: string }
      example: "GET, HEAD, OPTIONS"
    Accept:
      description: The accepted media types, if the request has another one.
      schema:
        type: string
        enum:
          - application/json
          - application/merge-patch+json, application/json
          - application/partial-upload
          - image/jpeg, image/png, image/gif, image/webp, image/avif, image/heic, image/heif, application/pdf, video/mp4, audio/mp4, video/quicktime, video/webm, audio/webm, audio/ogg, video/ogg, audio/mpeg, audio/aac, audio/flac, audio/wav, application/octet-stream
      example: application/json
    AcceptEncoding:
      description: The accepted content coding, if the request has another one.
      schema: { type: string, const: identity }
    AllowMethods:
      description: The methods that other origins may use.
      required: true
      schema: { type: string }
      example: "GET, HEAD, OPTIONS"
    AllowHeaders:
      description: The request headers that other origins may send.
      schema: { type: string }
    MaxAge:
      description: The number of seconds for which the response is valid.
      schema: { type: string, pattern: "^[0-9]+$" }
      example: "86400"

  requestBodies:
    NewMedia:
      description: The bytes of the file, with the type `application/octet-stream` or the type of the file.
      required: true
      content:
        application/octet-stream:
          schema: { type: string, format: binary }
    PartOfMedia:
      description: The next bytes of the file, or none.
      required: false
      content:
        application/partial-upload:
          schema: { type: string, format: binary }
    NewItem:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/ItemInput" }
          example:
            date: "2026-11-14T06:00:00Z"
            title: Night ferry returns to the old pier
            text: After nine years the night ferry calls at the old pier again, twice a week until spring.
            topics: [harbour]
            language: en
            author: Mara Quill
    Batch:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Batch" }
          example:
            atomic: true
            entries:
              - { op: create, item: { text: The harbour fair opens at noon., topics: [harbour] } }
              - { op: modify, id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6, revision: 7, patch: { breaking: false } }
              - { op: retract, id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f7, revision: 2, reason: A duplicate. }
    ItemReplacement:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/ItemInput" }
          example:
            revision: 7
            date: "2026-11-14T06:00:00Z"
            title: Night ferry returns to the old pier
            text: After nine years the night ferry calls at the old pier again, three times a week until spring.
            topics: [harbour, city]
    ItemPatch:
      required: true
      content:
        application/merge-patch+json:
          schema: { $ref: "#/components/schemas/ItemPatch" }
          example:
            revision: 8
            breaking: true
            summary: null
        application/json:
          schema: { $ref: "#/components/schemas/ItemPatch" }
    NewTopic:
      required: true
      content:
        application/json:
          schema: { allOf: [{ $ref: "#/components/schemas/TopicInput" }, { required: [slug] }] }
          example:
            slug: harbour
            titles: { de: Hafen, en: Harbour }
            position: 1
    NewSubscription:
      required: true
      content:
        application/json:
          schema: { allOf: [{ $ref: "#/components/schemas/SubscriptionInput" }, { required: [url] }] }
          example:
            url: https://port.example/news.atom
            topics: [harbour]
            state: draft
    SubscriptionPatch:
      required: true
      content:
        application/merge-patch+json:
          schema: { $ref: "#/components/schemas/SubscriptionPatch" }
          example:
            revision: 2
            paused: true
            title: null
        application/json:
          schema: { $ref: "#/components/schemas/SubscriptionPatch" }
    DeviceRegistration:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/DeviceRegistration" }
          examples:
            phone:
              value:
                provider: apns
                token: 0f744707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad
                app: org.example.harbour
                alerts: true
                topics: [harbour]
                languages: [de, en]
                timeZone: Europe/Berlin
                quiet: { from: "22:00", to: "07:00" }
            browser:
              value:
                provider: webpush
                kind: browser
                alerts: true
                subscription:
                  endpoint: https://updates.push.services.mozilla.com/wpush/v2/gAAAAABk
                  keys:
                    p256dh: BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4
                    auth: BTBZMqHH6r4Tts7J_aSIgg
    DeviceConfirmation:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/DeviceConfirmation" }
          example:
            code: 3b8_0Qm1kPz7Zr0N1sV9cXb4uLq2wYtGhJdKfRoEaMI
    DeviceReport:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/DeviceReport" }
          example:
            token: 1k3x9qam9pkx.10
            push: 3f0c5b0e-7f4d-4a55-9a43-5f2e5f0e6a11
            result: newData
    AlertRequest:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/AlertRequest" }
          example:
            item: 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10
    NewWebhook:
      required: true
      content:
        application/json:
          schema: { allOf: [{ $ref: "#/components/schemas/WebhookInput" }, { required: [url] }] }
          example:
            url: https://cache.example/purge
            events: [item.changed, item.retracted, item.expired]
            topics: [harbour]
    WebhookPatch:
      required: true
      content:
        application/merge-patch+json:
          schema: { $ref: "#/components/schemas/WebhookPatch" }
          example:
            revision: 2
            paused: false
            topics: null
        application/json:
          schema: { $ref: "#/components/schemas/WebhookPatch" }
    TopicReplacement:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/TopicInput" }
          example:
            revision: 1
            titles: { de: Hafen, en: Harbour, fr: Port }
            position: 2

  responses:
    ItemList:
      description: A page of items.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/Link" }
        Sync-Token: { $ref: "#/components/headers/SyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/ItemList" }
          example:
            items:
              - attachments: []
                author: Mara Quill
                breaking: false
                date: "2026-11-14T06:00:00.000Z"
                id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
                language: en
                text: After nine years the night ferry calls at the old pier again, twice a week until spring.
                title: Night ferry returns to the old pier
                topics: [harbour]
                updated: "2026-11-14T06:00:04.218Z"
                version: 100
    ItemListHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/Link" }
        Sync-Token: { $ref: "#/components/headers/SyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
    ItemListNotModified:
      description: >-
        Nothing new: the client has this representation.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/Link" }
        Sync-Token: { $ref: "#/components/headers/SyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
    Item:
      description: The item.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Item" }
          example:
            attachments: []
            author: Mara Quill
            breaking: false
            date: "2026-11-14T06:00:00.000Z"
            id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
            language: en
            text: After nine years the night ferry calls at the old pier again, twice a week until spring.
            title: Night ferry returns to the old pier
            topics: [harbour]
            updated: "2026-11-14T06:00:04.218Z"
            version: 100
    ItemHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
    ItemNotModified:
      description: >-
        Nothing new: the client has this representation.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
    ChangeList:
      description: The changes in the order of versions. The list is empty if nothing is new.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/ChangesCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Sync-Token: { $ref: "#/components/headers/SyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/ChangeList" }
          examples:
            delta:
              value:
                changes:
                  - op: put
                    item:
                      attachments: []
                      author: Mara Quill
                      breaking: false
                      date: "2026-11-14T06:00:00.000Z"
                      id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
                      language: en
                      text: After nine years the night ferry calls at the old pier again, twice a week until spring.
                      title: Night ferry returns to the old pier
                      topics: [harbour]
                      updated: "2026-11-14T06:00:04.218Z"
                      version: 100
                  - op: remove
                    id: 01a1d98b-6e20-7f03-8c55-1b90d2a7e3c8
                    reason: retracted
                more: false
                token: 1k3v9q20m1xe.2t
            nothingNew:
              value:
                changes: []
                more: false
                token: 1k3v9q20m1xe.2t
    ChangeListHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/ChangesCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Sync-Token: { $ref: "#/components/headers/SyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
    ChangeListNotModified:
      description: >-
        Nothing new: the client has this representation.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/ChangesCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Sync-Token: { $ref: "#/components/headers/SyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
    State:
      description: The current tokens.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/FeedState" }
          example:
            feed: 1k3v9q20m1xe.2t
            topics: { harbour: 1k3v9q2c07aa.2t, sport: 1k3v9q2p4x0f.1z }
            union: 1k3v9q29ws3d.2t
    StateHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
    StateNotModified:
      description: >-
        Nothing new: the client has this representation.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
    EventStream:
      description: Events, until either side closes the connection.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Accel-Buffering:
          description: Instructs nginx to pass on each event at once.
          required: true
          schema: { type: string, const: "no" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        text/event-stream:
          schema: { description: "Events whose data is a ChangeEvent." }
          examples:
            publish:
              value: |+
                retry: 2140
                id: 1k3x9qa0feed.2s

                id: 1k3x9qa0feed.2t
                data: {"ids":["01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6"],"token":"1k3x9qa0feed.2t","topics":["harbour"]}

    TopicList:
      description: All topics.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/TopicList" }
          example:
            topics:
              - changed: "2026-11-14T06:00:04.218Z"
                items: 37
                position: 1
                slug: harbour
                titles: { de: Hafen, en: Harbour }
    TopicListHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
    TopicListNotModified:
      description: >-
        Nothing new: the client has this representation.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
    Topic:
      description: The topic.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Topic" }
          example:
            changed: "2026-11-14T06:00:04.218Z"
            items: 37
            position: 1
            slug: harbour
            titles: { de: Hafen, en: Harbour }
    TopicHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
    TopicNotModified:
      description: >-
        Nothing new: the client has this representation.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Sync-Token: { $ref: "#/components/headers/OptionalSyncToken" }
        Vary: { $ref: "#/components/headers/Vary" }
    Page:
      description: The page.
      headers:
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        Content-Security-Policy: { $ref: "#/components/headers/ContentSecurityPolicy" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Referrer-Policy: { $ref: "#/components/headers/ReferrerPolicy" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
      content:
        text/html; charset=utf-8:
          schema: { type: string }
          example: "<!doctype html><html lang=\"en\"><title>Night ferry returns to the old pier – news.example</title>…</html>"
    PageHead:
      description: The same as GET, without the body.
      headers:
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        Content-Security-Policy: { $ref: "#/components/headers/ContentSecurityPolicy" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Referrer-Policy: { $ref: "#/components/headers/ReferrerPolicy" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
    PageNotModified:
      description: >-
        Nothing new: the client has this page.
      headers:
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        Content-Security-Policy: { $ref: "#/components/headers/ContentSecurityPolicy" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Referrer-Policy: { $ref: "#/components/headers/ReferrerPolicy" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
    PageNotFound:
      description: There is no such page, or it is not public. A server without pages returns problem details.
      headers:
        Cache-Control: { $ref: "#/components/headers/GoneCacheControl" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
        X-Request-Id: { $ref: "#/components/headers/OptionalRequestID" }
      content:
        text/html; charset=utf-8:
          schema: { type: string }
          example: "<!doctype html><html lang=\"en\"><title>Page not found – news.example</title>…</html>"
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-found
            title: The resource does not exist
            status: 404
    PageNotFoundHead:
      description: The same as GET, without the body.
      headers:
        Cache-Control: { $ref: "#/components/headers/GoneCacheControl" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
        X-Request-Id: { $ref: "#/components/headers/OptionalRequestID" }
    NoPages:
      description: The server has no pages. The response replaces those that caches have from before.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-found
            title: The resource does not exist
            status: 404
    NoPagesHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
    PageGone:
      description: The item was retracted or has expired. The page has the editor's words.
      headers:
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
      content:
        text/html; charset=utf-8:
          schema: { type: string }
          example: "<!doctype html><html lang=\"en\"><title>No longer available – news.example</title>…</html>"
    PageGoneHead:
      description: The same as GET, without the body.
      headers:
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
    PageBadRequest:
      description: The cursor is invalid, or the message is malformed.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        text/html; charset=utf-8:
          schema: { type: string }
          example: "<!doctype html><html lang=\"en\"><title>The address is not complete – news.example</title>…</html>"
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/malformed-request
            title: The request is not valid HTTP
            status: 400
    PageBadRequestHead:
      description: The same as GET, without the body.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    PageError:
      description: An error of the server. Its log has details under the request id.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        text/html; charset=utf-8:
          schema: { type: string }
          example: "<!doctype html><html lang=\"en\"><title>Something went wrong – news.example</title>…</html>"
    PageErrorHead:
      description: The same as GET, without the body.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    PageUnavailable:
      description: The page cannot be served now; see `Retry-After`.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        Retry-After: { $ref: "#/components/headers/RetryAfter" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        text/html; charset=utf-8:
          schema: { type: string }
          example: "<!doctype html><html lang=\"en\"><title>Temporarily unavailable – news.example</title>…</html>"
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/unavailable
            title: The database does not respond in time
            status: 503
    PageUnavailableHead:
      description: The same as GET, without the body.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Content-Security-Policy: { $ref: "#/components/headers/ErrorContentSecurityPolicy" }
        Referrer-Policy: { $ref: "#/components/headers/ErrorReferrerPolicy" }
        Retry-After: { $ref: "#/components/headers/RetryAfter" }
        X-Content-Type-Options: { $ref: "#/components/headers/ErrorNoSniff" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    Asset:
      description: The file.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/AssetCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
      content:
        text/css; charset=utf-8:
          schema: { type: string }
          example: "main { max-width: 72rem }"
        text/javascript; charset=utf-8:
          schema: { type: string }
          example: "\"use strict\";"
        image/svg+xml:
          schema: { type: string }
          example: "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"
    AssetHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/AssetCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
    AssetNotModified:
      description: >-
        Nothing new: the client has this file.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/AssetCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
    Worker:
      description: The script.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/WorkerCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        Content-Security-Policy: { $ref: "#/components/headers/WorkerContentSecurityPolicy" }
        ETag: { $ref: "#/components/headers/ETag" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
      content:
        text/javascript; charset=utf-8:
          schema: { type: string }
          example: "self.addEventListener(\"push\", (event) => event.waitUntil(received(event.data.json())));"
    WorkerHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/WorkerCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        Content-Security-Policy: { $ref: "#/components/headers/WorkerContentSecurityPolicy" }
        ETag: { $ref: "#/components/headers/ETag" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
    WorkerNotModified:
      description: >-
        Nothing new: the client has this version.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/WorkerCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        Content-Security-Policy: { $ref: "#/components/headers/WorkerContentSecurityPolicy" }
        ETag: { $ref: "#/components/headers/ETag" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
    JSONFeed:
      description: The document.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/FeedETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/FeedLink" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
      content:
        application/feed+json:
          schema: { $ref: "#/components/schemas/JSONFeed" }
          example:
            feed_url: https://news.example/feed.json
            home_page_url: https://news.example
            items:
              - authors: [{ name: Mara Quill }]
                content_text: After nine years the night ferry calls at the old pier again, twice a week until spring.
                date_modified: "2026-11-14T06:00:04.218Z"
                date_published: "2026-11-14T06:00:00.000Z"
                id: urn:uuid:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
                language: en
                tags: [harbour]
                title: Night ferry returns to the old pier
            title: Harbour News
            version: https://jsonfeed.org/version/1.1
    JSONFeedChanges:
      description: The items that are new or changed since the document that the client has.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/FeedChangesCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/FeedETag" }
        IM: { $ref: "#/components/headers/InstanceManipulation" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/FeedLink" }
        Vary: { $ref: "#/components/headers/FeedChangesVary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
      content:
        application/feed+json:
          schema: { $ref: "#/components/schemas/JSONFeed" }
          example:
            feed_url: https://news.example/feed.json
            home_page_url: https://news.example
            items:
              - authors: [{ name: Mara Quill }]
                content_text: After nine years the night ferry calls at the old pier again, twice a week until spring.
                date_modified: "2026-11-14T06:00:04.218Z"
                date_published: "2026-11-14T06:00:00.000Z"
                id: urn:uuid:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
                language: en
                tags: [harbour]
                title: Night ferry returns to the old pier
            title: Harbour News
            version: https://jsonfeed.org/version/1.1
    AtomFeed:
      description: The document.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/FeedETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/FeedLink" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
      content:
        application/atom+xml:
          schema: { type: string, description: An XML document. }
          example: |
            <?xml version="1.0" encoding="utf-8"?>
            <feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">
              <id>https://news.example/feed.atom</id>
              <title>Harbour News</title>
              <updated>2026-11-14T06:00:04.218Z</updated>
              <author><name>Harbour News</name></author>
              <link href="https://news.example"/>
              <link rel="self" href="https://news.example/feed.atom"/>
              <entry xml:lang="en">
                <id>urn:uuid:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6</id>
                <title>Night ferry returns to the old pier</title>
                <published>2026-11-14T06:00:00.000Z</published>
                <updated>2026-11-14T06:00:04.218Z</updated>
                <author><name>Mara Quill</name></author>
                <category term="harbour"/>
                <content type="html">&lt;p&gt;After nine years the night ferry calls at the old pier again.&lt;/p&gt;</content>
              </entry>
            </feed>
    AtomFeedChanges:
      description: The items that are new, changed or removed since the document that the client has.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/FeedChangesCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/FeedETag" }
        IM: { $ref: "#/components/headers/InstanceManipulation" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/FeedLink" }
        Vary: { $ref: "#/components/headers/FeedChangesVary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
      content:
        application/atom+xml:
          schema: { type: string, description: An XML document. }
          example: |
            <?xml version="1.0" encoding="utf-8"?>
            <feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">
              <id>https://news.example/feed.atom</id>
              <title>Harbour News</title>
              <updated>2026-11-14T06:00:04.218Z</updated>
              <author><name>Harbour News</name></author>
              <link href="https://news.example"/>
              <link rel="self" href="https://news.example/feed.atom"/>
              <entry xml:lang="en">
                <id>urn:uuid:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6</id>
                <title>Night ferry returns to the old pier</title>
                <published>2026-11-14T06:00:00.000Z</published>
                <updated>2026-11-14T06:00:04.218Z</updated>
                <author><name>Mara Quill</name></author>
                <category term="harbour"/>
                <content type="html">&lt;p&gt;After nine years the night ferry calls at the old pier again.&lt;/p&gt;</content>
              </entry>
              <at:deleted-entry ref="urn:uuid:01a1d4b2-77c0-7f0a-b1ce-0d4f5be3c9a1" when="2026-11-14T06:10:00.000Z"/>
            </feed>
    RSSFeed:
      description: The document.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/FeedETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/FeedLink" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
      content:
        application/rss+xml:
          schema: { type: string, description: An XML document. }
          example: |
            <?xml version="1.0" encoding="utf-8"?>
            <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
              <channel>
                <title>Harbour News</title>
                <link>https://news.example</link>
                <description>Harbour News</description>
                <atom:link rel="self" href="https://news.example/feed.rss" type="application/rss+xml"/>
                <item>
                  <guid isPermaLink="false">urn:uuid:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6</guid>
                  <title>Night ferry returns to the old pier</title>
                  <pubDate>Sat, 14 Nov 2026 06:00:00 GMT</pubDate>
                  <description>&lt;p&gt;After nine years the night ferry calls at the old pier again.&lt;/p&gt;</description>
                </item>
              </channel>
            </rss>
    RSSFeedChanges:
      description: The items that are new or changed since the document that the client has.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/FeedChangesCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/FeedETag" }
        IM: { $ref: "#/components/headers/InstanceManipulation" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/FeedLink" }
        Vary: { $ref: "#/components/headers/FeedChangesVary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
      content:
        application/rss+xml:
          schema: { type: string, description: An XML document. }
          example: |
            <?xml version="1.0" encoding="utf-8"?>
            <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
              <channel>
                <title>Harbour News</title>
                <link>https://news.example</link>
                <description>Harbour News</description>
                <atom:link rel="self" href="https://news.example/feed.rss" type="application/rss+xml"/>
                <item>
                  <guid isPermaLink="false">urn:uuid:01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6</guid>
                  <title>Night ferry returns to the old pier</title>
                  <pubDate>Sat, 14 Nov 2026 06:00:00 GMT</pubDate>
                  <description>&lt;p&gt;After nine years the night ferry calls at the old pier again.&lt;/p&gt;</description>
                </item>
              </channel>
            </rss>
    FeedHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/FeedETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/FeedLink" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
    FeedNotModified:
      description: >-
        Nothing new: the client has this document.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Cache-Status: { $ref: "#/components/headers/CacheStatus" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/FeedETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Link: { $ref: "#/components/headers/FeedLink" }
        Vary: { $ref: "#/components/headers/Vary" }
        X-Poll-Interval: { $ref: "#/components/headers/PollInterval" }
    Contract:
      description: This document, in OpenAPI 3.1.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Vary: { $ref: "#/components/headers/Vary" }
      content:
        application/yaml:
          schema: { type: object, required: [openapi, info, paths] }
        application/octet-stream:
          x-only-for-generators: true
          schema: { type: string, format: binary }
    ContractHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Vary: { $ref: "#/components/headers/Vary" }
    ContractNotModified:
      description: >-
        Nothing new: the client has this representation.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Vary: { $ref: "#/components/headers/Vary" }
    Preflight:
      description: Any origin may read, with any of the request headers that the API uses.
      headers:
        Access-Control-Allow-Headers: { $ref: "#/components/headers/AllowHeaders" }
        Access-Control-Allow-Methods: { $ref: "#/components/headers/AllowMethods" }
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Access-Control-Max-Age: { $ref: "#/components/headers/MaxAge" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
    Health:
      description: The process runs.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Health" }
          example:
            status: ok
            version: 1.4.2
    Readiness:
      description: The server accepts requests.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Readiness" }
          example:
            status: ready
    HealthHead:
      description: The same as GET, without the body.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    Metrics:
      description: The metrics of this process, in the text format of Prometheus.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        text/plain; version=0.0.4; charset=utf-8:
          schema: { type: string }
          example: |
            # HELP tidings_http_requests_total Requests answered.
            # TYPE tidings_http_requests_total counter
            tidings_http_requests_total{route="/v1/items",method="GET",status="304"} 4711
    MetricsHead:
      description: The same as GET, without the body.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    BatchResultList:
      description: The results of the entries, in their order.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/BatchResultList" }
          example:
            applied: 1
            results:
              - { id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6, status: 204 }
              - id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f7
                status: 404
                problem: { type: /problems/not-found, title: The resource does not exist, status: 404 }
    HistoryList:
      description: A page of writes.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Link: { $ref: "#/components/headers/Link" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/HistoryList" }
          example:
            entries:
              - at: "2026-11-14T06:04:31.902Z"
                changes:
                  - { field: text, difference: [{ skip: 52 }, { keep: " at the old pier again, " }, { remove: twice }, { add: once }, { keep: " a week until spring." }] }
                  - { field: topics, old: [harbour], new: [harbour, travel] }
                editor: { kind: key, name: desk }
                item: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
                revision: 2
                state: published
              - at: "2026-11-14T06:00:00.114Z"
                changes: []
                editor: { kind: import }
                item: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
                revision: 1
                state: published

    EditorialItemList:
      description: A page of items.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Link: { $ref: "#/components/headers/Link" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/EditorialItemList" }
          example:
            items:
              - attachments: []
                author: Mara Quill
                breaking: false
                date: "2026-11-14T06:00:00.000Z"
                id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
                language: en
                revision: 7
                state: published
                text: After nine years the night ferry calls at the old pier again, twice a week until spring.
                title: Night ferry returns to the old pier
                topics: [harbour]
                updated: "2026-11-14T06:00:04.218Z"
                version: 100
    EditorialItem:
      description: The current item.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/EditorialItem" }
          example:
            attachments: []
            author: Mara Quill
            breaking: false
            date: "2026-11-14T06:00:00.000Z"
            id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
            language: en
            revision: 7
            state: published
            text: After nine years the night ferry calls at the old pier again, twice a week until spring.
            title: Night ferry returns to the old pier
            topics: [harbour]
            updated: "2026-11-14T06:00:04.218Z"
            version: 100
    EditorialItemCreated:
      description: The resource was created.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        Location: { $ref: "#/components/headers/Location" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/EditorialItem" }
          example:
            attachments: []
            author: Mara Quill
            breaking: false
            date: "2026-11-14T06:00:00.000Z"
            id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
            language: en
            revision: 1
            state: published
            text: After nine years the night ferry calls at the old pier again, twice a week until spring.
            title: Night ferry returns to the old pier
            topics: [harbour]
            updated: "2026-11-14T06:00:04.218Z"
            version: 100
    EditorialItemKept:
      description: The item already exists with this content.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/EditorialItem" }
          example:
            attachments: []
            author: Mara Quill
            breaking: false
            date: "2026-11-14T06:00:00.000Z"
            id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
            language: en
            revision: 1
            state: published
            text: After nine years the night ferry calls at the old pier again, twice a week until spring.
            title: Night ferry returns to the old pier
            topics: [harbour]
            updated: "2026-11-14T06:00:04.218Z"
            version: 100
    EditorialNotModified:
      description: The client has this revision.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    Retracted:
      description: The item was retracted, and followers were notified.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/OptionalRevisionETag" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    EditorialTopicList:
      description: All topics.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/EditorialTopicList" }
          example:
            topics:
              - changed: "2026-11-14T06:00:04.218Z"
                items: 37
                position: 1
                revision: 1
                slug: harbour
                titles: { de: Hafen, en: Harbour }
    Subscription:
      description: The current subscription.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Subscription" }
          example:
            id: 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10
            lastSuccess: "2026-11-14T06:00:04.218Z"
            nextPoll: "2026-11-14T06:20:04.218Z"
            paused: false
            revision: 1
            state: draft
            title: Port news
            topics: [harbour]
            url: https://port.example/news.atom
    SubscriptionCreated:
      description: The feed is followed.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        Location: { $ref: "#/components/headers/Location" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Subscription" }
          example:
            id: 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10
            lastSuccess: "2026-11-14T06:00:04.218Z"
            nextPoll: "2026-11-14T06:20:04.218Z"
            paused: false
            revision: 1
            state: draft
            title: Port news
            topics: [harbour]
            url: https://port.example/news.atom
    SubscriptionList:
      description: All subscriptions.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/SubscriptionList" }
          example: { subscriptions: [] }
    PollRequested:
      description: The feed is polled at `nextPoll`.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Subscription" }
          example:
            id: 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10
            lastSuccess: "2026-11-14T06:00:04.218Z"
            nextPoll: "2026-11-14T06:03:11.507Z"
            paused: false
            revision: 1
            state: draft
            title: Port news
            topics: [harbour]
            url: https://port.example/news.atom
    SubscriptionPaused:
      description: >-
        The subscription is paused, so that its feed is not polled; or the first request with this `Idempotency-Key` has no
        answer yet.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/ProgressRetryAfter" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/subscription-paused
            title: The subscription is paused
            status: 409
            detail: Its feed is not polled. Resume it with PATCH and `paused` false, which polls it at once.
    AlreadyFollowed:
      description: >-
        Another subscription has the address; or the first request with this `Idempotency-Key` has no answer yet.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/ProgressRetryAfter" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/already-followed
            title: The feed is already followed
            status: 409
            detail: The subscription 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10 has this address.
    PushOffer:
      description: The push services of the server. Web Push needs its public key.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/PushOffer" }
          example:
            providers: [apns, webpush]
            webPush:
              publicKey: BDd3_hVL9fZi9Ybo2UUzA284WG5FZR30_95YeZJsiApwXKpNcF1rRPF3foIiBHXRdJI2Qhumhf6_LFTeZaNndIo
    PushOfferHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    DeviceRegistered:
      description: The device is registered. Its secret cannot be read again.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/DeviceCredentials" }
          example:
            expires: "2027-02-24T06:00:00Z"
            id: 5f0c3a52-0d0e-4f0c-9a8e-1d1f2c3b4a5d
            secret: 9u1T0bq8Wm2kX7Zr0N1sV9cXb4uLq2wYtGhJdKfRoEa
    DeviceRenewed:
      description: The registration is valid for another 90 days. The secret is the same.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/DeviceCredentials" }
          example:
            expires: "2027-02-24T06:00:00Z"
            id: 5f0c3a52-0d0e-4f0c-9a8e-1d1f2c3b4a5d
            secret: 9u1T0bq8Wm2kX7Zr0N1sV9cXb4uLq2wYtGhJdKfRoEa
    DeviceDone:
      description: The request was carried out.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    DeviceNotFound:
      description: There is no device with this id and this secret.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-found
            title: The resource does not exist
            status: 404
    TooManyDevices:
      description: There are too many registrations from the network of the client in this minute, or in all.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/RetryAfter" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/too-many-requests
            title: Too many requests
            status: 429
            detail: Try again in 600 s.
    DevicePreflight:
      description: Any origin may register devices.
      headers:
        Access-Control-Allow-Headers: { $ref: "#/components/headers/AllowHeaders" }
        Access-Control-Allow-Methods: { $ref: "#/components/headers/AllowMethods" }
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Access-Control-Max-Age: { $ref: "#/components/headers/MaxAge" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
    PushList:
      description: The pushes.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Link: { $ref: "#/components/headers/Link" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/PushList" }
          example:
            pushes:
              - audience: 1204
                created: "2026-11-26T06:00:00.114Z"
                dropped: 31
                finished: "2026-11-26T06:00:01.204Z"
                foundNews: 9
                gone: 2
                id: 3f0c5b0e-7f4d-4a55-9a43-5f2e5f0e6a11
                item: 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10
                kind: alert
                lastSent: "2026-11-26T06:00:02.871Z"
                refused: 1
                reports: 11
                sent: 1170
                starts: "2026-11-26T06:00:00.114Z"
                title: The ferry is back
                woke: 10
    Push:
      description: The push.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Push" }
          example:
            audience: 1204
            created: "2026-11-26T06:00:00.114Z"
            dropped: 31
            finished: "2026-11-26T06:00:01.204Z"
            foundNews: 9
            gone: 2
            id: 3f0c5b0e-7f4d-4a55-9a43-5f2e5f0e6a11
            item: 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10
            kind: alert
            lastSent: "2026-11-26T06:00:02.871Z"
            refused: 1
            reports: 11
            sent: 1170
            starts: "2026-11-26T06:00:00.114Z"
            title: The ferry is back
            woke: 10
    AlertRequest:
      description: The audience with `dryRun`; otherwise the request that was made before.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema:
            oneOf:
              - { $ref: "#/components/schemas/PushAudience" }
              - { $ref: "#/components/schemas/AlertState" }
          examples:
            audience: { value: { devices: 3, providers: { apns: 2, fcm: 1 }, quiet: 1 } }
            request: { value: { push: 3f0c5b0e-7f4d-4a55-9a43-5f2e5f0e6a11, state: released } }
    AlertRequested:
      description: The alert is made once the item is published.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/AlertState" }
          example:
            state: waiting
    Webhook:
      description: The current webhook.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Webhook" }
          example:
            created: "2026-11-14T06:00:00.114Z"
            events: [item.changed, item.retracted, item.expired]
            id: 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f20
            lastSuccess: "2026-11-14T06:04:32.218Z"
            paused: false
            revision: 1
            topics: [harbour]
            url: https://cache.example/purge
    WebhookCreated:
      description: The webhook receives events from now on. A repetition of the request is answered without `secret`.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        Location: { $ref: "#/components/headers/Location" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Webhook" }
          example:
            created: "2026-11-14T06:00:00.114Z"
            events: [item.changed, item.retracted, item.expired]
            id: 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f20
            paused: false
            revision: 1
            secret: whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDHc2VaZ/1Otc=
            topics: [harbour]
            url: https://cache.example/purge
    WebhookRotated:
      description: The webhook with its new secret. A repetition of the request is answered without `secret`.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Webhook" }
          example:
            created: "2026-11-14T06:00:00.114Z"
            events: [item.changed, item.retracted, item.expired]
            id: 019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f20
            paused: false
            previousSecretUntil: "2026-11-15T06:00:00.114Z"
            revision: 2
            secret: whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDHc2VaZ/1Otc=
            topics: [harbour]
            url: https://cache.example/purge
    WebhookList:
      description: All webhooks.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/WebhookList" }
          example: { webhooks: [] }
    WebhookDelivery:
      description: The event is sent at `nextAttempt`.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/WebhookDelivery" }
          example:
            attempts: []
            created: "2026-11-14T06:04:32.007Z"
            event: item.changed
            id: 5b8c2b0e-6f7d-4f0e-9d5c-8a3d1b2c4e6f
            item: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
            nextAttempt: "2026-11-14T06:04:32.007Z"
            state: due
            version: 101
    WebhookDeliveryList:
      description: A page of deliveries.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Link: { $ref: "#/components/headers/Link" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/WebhookDeliveryList" }
          example:
            deliveries:
              - attempts:
                  - { at: "2026-11-14T06:04:32.211Z", error: the receiver has answered with the status 503, milliseconds: 93, number: 1, status: 503 }
                  - { at: "2026-11-14T06:04:37.518Z", milliseconds: 41, number: 2, status: 204 }
                created: "2026-11-14T06:04:32.007Z"
                event: item.changed
                id: 5b8c2b0e-6f7d-4f0e-9d5c-8a3d1b2c4e6f
                item: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
                state: delivered
                version: 101
    WebhookLimit:
      description: >-
        There are 100 webhooks already; or the first request with this `Idempotency-Key` has no answer yet.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/ProgressRetryAfter" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/webhook-limit
            title: There are too many webhooks
            status: 409
            detail: There may be 100. Delete one that is not needed any more.
    WebhookPaused:
      description: >-
        The webhook is paused, so that nothing is sent to it; or the first request with this `Idempotency-Key` has no answer yet.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/ProgressRetryAfter" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/webhook-paused
            title: The webhook is paused
            status: 409
            detail: Nothing is sent to it. Resume it with PATCH and `paused` false.
    HubChallenge:
      description: The challenge, or nothing after `denied`.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        text/plain:
          schema: { type: string }
          example: 7b1c9f2e4d
    HubNoticeReceived:
      description: The notice has arrived. The response does not say whether its signature was valid.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    HubLeaseNotFound:
      description: The server has not requested this of a hub, or a parameter is missing or malformed.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-found
            title: The resource does not exist
            status: 404
    HubNoticeMalformed:
      description: The body is truncated or wrongly framed.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/malformed-body
            title: The body cannot be read
            status: 400
            detail: The body is truncated or wrongly framed.
    HubCallbackEnded:
      description: The lease of the callback has ended, or there was none.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/callback-ended
            title: The callback has ended
            status: 410
            detail: The server has no lease at a hub with this callback.
    HubNoticeTooLarge:
      description: The body has more than 16 MiB.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/body-too-large
            title: The body is too large
            status: 413
            detail: The maximum is 16777216 bytes.
    EditorialTopic:
      description: The current topic.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/EditorialTopic" }
          example:
            changed: "2026-11-14T06:00:04.218Z"
            items: 37
            position: 1
            revision: 1
            slug: harbour
            titles: { de: Hafen, en: Harbour }
    EditorialTopicCreated:
      description: The resource was created.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        Location: { $ref: "#/components/headers/Location" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/EditorialTopic" }
          example:
            changed: "2026-11-14T06:00:04.218Z"
            items: 0
            position: 1
            revision: 1
            slug: harbour
            titles: { de: Hafen, en: Harbour }
    Media:
      description: The file.
      headers:
        Accept-Ranges: { $ref: "#/components/headers/AcceptRanges" }
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/FileCacheControl" }
        Content-Disposition: { $ref: "#/components/headers/Disposition" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/Uploaded" }
        Repr-Digest: { $ref: "#/components/headers/ReprDigest" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
      content:
        image/jpeg: {}
        image/png: {}
        image/gif: {}
        image/webp: {}
        image/avif: {}
        image/heic: {}
        image/heif: {}
        application/pdf: {}
        video/mp4: {}
        audio/mp4: {}
        video/quicktime: {}
        video/webm: {}
        audio/webm: {}
        audio/ogg: {}
        video/ogg: {}
        audio/mpeg: {}
        audio/aac: {}
        audio/flac: {}
        audio/wav: {}
        application/octet-stream:
          x-only-for-generators: true
          schema: { type: string, format: binary }
    MediaPart:
      description: A part of the file.
      headers:
        Accept-Ranges: { $ref: "#/components/headers/AcceptRanges" }
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/FileCacheControl" }
        Content-Disposition: { $ref: "#/components/headers/Disposition" }
        Content-Range: { $ref: "#/components/headers/ContentRange" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/Uploaded" }
        Repr-Digest: { $ref: "#/components/headers/ReprDigest" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
      content:
        image/jpeg: {}
        image/png: {}
        image/gif: {}
        image/webp: {}
        image/avif: {}
        image/heic: {}
        image/heif: {}
        application/pdf: {}
        video/mp4: {}
        audio/mp4: {}
        video/quicktime: {}
        video/webm: {}
        audio/webm: {}
        audio/ogg: {}
        video/ogg: {}
        audio/mpeg: {}
        audio/aac: {}
        audio/flac: {}
        audio/wav: {}
        application/octet-stream:
          x-only-for-generators: true
          schema: { type: string, format: binary }
    MediaHead:
      description: The same as GET, without the body.
      headers:
        Accept-Ranges: { $ref: "#/components/headers/AcceptRanges" }
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/FileCacheControl" }
        Content-Disposition: { $ref: "#/components/headers/Disposition" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/Uploaded" }
        Repr-Digest: { $ref: "#/components/headers/ReprDigest" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
    MediaNotModified:
      description: The client has this file.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/FileCacheControl" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/Uploaded" }
    MediaStored:
      description: The file was stored durably.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        Location: { $ref: "#/components/headers/MediaLocation" }
        Upload-Complete: { $ref: "#/components/headers/UploadComplete" }
        Upload-Draft-Interop-Version: { $ref: "#/components/headers/UploadVersion" }
        Upload-Offset: { $ref: "#/components/headers/UploadOffset" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/StoredFile" }
          example:
            bytes: 482113
            height: 1080
            sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
            type: image/jpeg
            url: /v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
            width: 1920
    MediaStoredOrBegun:
      description: The file was stored durably, or an upload has begun that continues over several requests.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        Location:
          description: The public URL of the file, or the path of the upload.
          required: true
          schema: { type: string, pattern: "^/v1/(media|editorial/media/uploads)/[0-9a-f-]{36}$" }
          example: /v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
        Upload-Complete: { $ref: "#/components/headers/UploadComplete" }
        Upload-Draft-Interop-Version: { $ref: "#/components/headers/UploadVersion" }
        Upload-Limit: { $ref: "#/components/headers/UploadLimit" }
        Upload-Offset: { $ref: "#/components/headers/UploadOffset" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema:
            oneOf:
              - { $ref: "#/components/schemas/StoredFile" }
              - { $ref: "#/components/schemas/BegunUpload" }
          example:
            bytes: 482113
            height: 1080
            sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
            type: image/jpeg
            url: /v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
            width: 1920
    UploadSupport:
      description: Uploads may continue over several requests.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Upload-Draft-Interop-Version: { $ref: "#/components/headers/UploadVersion" }
        Upload-Limit: { $ref: "#/components/headers/UploadLimit" }
    UploadProgress:
      description: The upload, which is complete or continues.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Upload-Complete: { $ref: "#/components/headers/UploadComplete" }
        Upload-Draft-Interop-Version: { $ref: "#/components/headers/UploadVersion" }
        Upload-Limit: { $ref: "#/components/headers/UploadLimit" }
        Upload-Offset: { $ref: "#/components/headers/UploadOffset" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    UploadCancelled:
      description: The upload was removed.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Upload-Draft-Interop-Version: { $ref: "#/components/headers/UploadVersion" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    UploadConflict:
      description: >-
        The upload continues at another offset (`upload-offset`), or another request is appending to it
        (`upload-in-progress`).
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/ProgressRetryAfter" }
        Upload-Complete: { $ref: "#/components/headers/UploadComplete" }
        Upload-Draft-Interop-Version: { $ref: "#/components/headers/UploadVersion" }
        Upload-Offset: { $ref: "#/components/headers/UploadOffset" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/upload-offset
            title: The upload continues at another offset
            status: 409
            detail: It has 8388608 bytes.
    UploadNotBegun:
      description: >-
        The key has too many unfinished uploads (`upload-limit`), or the first request with this `Idempotency-Key` has no
        answer yet (`request-in-progress`).
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/ProgressRetryAfter" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/upload-limit
            title: The key has too many unfinished uploads
            status: 409
            detail: Complete some of them, or cancel them with DELETE. They expire a day after their last progress.
    EditorialFile:
      description: The file.
      headers:
        Accept-Ranges: { $ref: "#/components/headers/AcceptRanges" }
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Content-Disposition: { $ref: "#/components/headers/Disposition" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/Uploaded" }
        Repr-Digest: { $ref: "#/components/headers/ReprDigest" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        image/jpeg: {}
        image/png: {}
        image/gif: {}
        image/webp: {}
        image/avif: {}
        image/heic: {}
        image/heif: {}
        application/pdf: {}
        video/mp4: {}
        audio/mp4: {}
        video/quicktime: {}
        video/webm: {}
        audio/webm: {}
        audio/ogg: {}
        video/ogg: {}
        audio/mpeg: {}
        audio/aac: {}
        audio/flac: {}
        audio/wav: {}
        application/octet-stream:
          x-only-for-generators: true
          schema: { type: string, format: binary }
    EditorialFilePart:
      description: A part of the file.
      headers:
        Accept-Ranges: { $ref: "#/components/headers/AcceptRanges" }
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Content-Disposition: { $ref: "#/components/headers/Disposition" }
        Content-Range: { $ref: "#/components/headers/ContentRange" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/Uploaded" }
        Repr-Digest: { $ref: "#/components/headers/ReprDigest" }
        X-Content-Type-Options: { $ref: "#/components/headers/NoSniff" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        image/jpeg: {}
        image/png: {}
        image/gif: {}
        image/webp: {}
        image/avif: {}
        image/heic: {}
        image/heif: {}
        application/pdf: {}
        video/mp4: {}
        audio/mp4: {}
        video/quicktime: {}
        video/webm: {}
        audio/webm: {}
        audio/ogg: {}
        video/ogg: {}
        audio/mpeg: {}
        audio/aac: {}
        audio/flac: {}
        audio/wav: {}
        application/octet-stream:
          x-only-for-generators: true
          schema: { type: string, format: binary }
    EditorialFileNotModified:
      description: The client has this file.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/Uploaded" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    EditorialMediaList:
      description: A page of files.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Link: { $ref: "#/components/headers/Link" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/EditorialMediaList" }
    MediaKept:
      description: The file already exists.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        Location: { $ref: "#/components/headers/MediaLocation" }
        Upload-Complete: { $ref: "#/components/headers/UploadComplete" }
        Upload-Draft-Interop-Version: { $ref: "#/components/headers/UploadVersion" }
        Upload-Offset: { $ref: "#/components/headers/UploadOffset" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/StoredFile" }
          example:
            bytes: 482113
            height: 1080
            sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
            type: image/jpeg
            url: /v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
            width: 1920
    MediaGone:
      description: The file was taken down.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/withdrawn
            title: The file is no longer available
            status: 410
            detail: The item that used it was retracted.
            reason: retracted
    MediaGoneHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
    MediaInUse:
      description: A published item uses the file; `detail` names some of these items.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/media-in-use
            title: A published item uses the file
            status: 409
            detail: >-
              A file can be removed once no published item uses it. Retract these items or remove the file from them
              first: 019a5f3e-8c00-7b6f-a6d2-0c4f6a1e9b58.
    TopicInUse:
      description: Items have the topic.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/topic-in-use
            title: Items have the topic
            status: 409
            detail: 12 items have the topic. Remove it from them first, or name a topic for them in `mergeInto`.
    NotRetracted:
      description: >-
        The item is not retracted; or the first request with this `Idempotency-Key` has no answer yet.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/ProgressRetryAfter" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-retracted
            title: The item is not retracted
            status: 409
            detail: Only a retracted item can be erased. Retract it first, with DELETE.
    Removed:
      description: The request was carried out, now or before.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Idempotency-Replayed: { $ref: "#/components/headers/IdempotencyReplayed" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    MediaNotKept:
      description: This server does not store files.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/media-not-kept
            title: The server stores no files
            status: 501
    StorageFull:
      description: There is not enough space for the file, or the storage is read-only. Nothing of it was stored.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/storage-full
            title: The storage for files is full
            status: 507
    RangeNotSatisfiable:
      description: No range lies within the file.
      headers:
        Accept-Ranges: { $ref: "#/components/headers/AcceptRanges" }
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Content-Range: { $ref: "#/components/headers/UnsatisfiedRange" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/range-not-satisfiable
            title: The range is not within the file
            status: 416
    BadRequest:
      description: The message, its query or its body is malformed. Nothing was changed.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          examples:
            parameter:
              value:
                type: /problems/invalid-parameter
                title: A parameter of the request is not valid
                status: 400
                errors:
                  - { field: limit, rule: must be a whole number from 1 to 200 }
            body:
              value:
                type: /problems/malformed-body
                title: The body cannot be read
                status: 400
            message:
              value:
                type: /problems/malformed-request
                title: The request is not valid HTTP
                status: 400
                detail: There is no Host.
    BadRequestHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    Unauthorized:
      description: The request needs a valid key.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        WWW-Authenticate: { $ref: "#/components/headers/Authenticate" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/unauthorized
            title: A valid key is required
            status: 401
    Forbidden:
      description: The key lacks the scope, or is restricted to other topics.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        WWW-Authenticate: { $ref: "#/components/headers/Authenticate" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/forbidden
            title: The key lacks a required scope
            status: 403
            detail: The scope items:write is required.
    NotFound:
      description: The resource does not exist, or is not public.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          examples:
            notFound:
              value:
                type: /problems/not-found
                title: The resource does not exist
                status: 404
            feedsNotConfigured:
              value:
                type: /problems/feeds-not-configured
                title: The server publishes no feeds
                detail: Their addresses need its public URL, which the operator of the server can set with TIDINGS_PUBLIC_URL.
                status: 404
    NotFoundHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
    UnknownPath:
      description: No resource has this path.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-found
            title: The resource does not exist
            status: 404
    EditorialNotFound:
      description: The resource does not exist.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-found
            title: The resource does not exist
            status: 404
    MethodNotAllowed:
      description: The resource does not support the method.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Allow: { $ref: "#/components/headers/Allow" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/method-not-allowed
            title: The method is not allowed here
            status: 405
    Conflict:
      description: >-
        The id or slug is used by another resource; or the first request with this `Idempotency-Key` has no answer yet.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/ProgressRetryAfter" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/conflict
            title: The id is already in use
            status: 409
            detail: A resource with this id exists and has other content. Use PUT to replace it.
    RequestInProgress:
      description: The first request with this `Idempotency-Key` has no answer yet.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/ProgressRetryAfter" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/request-in-progress
            title: The first request with this Idempotency-Key has no answer yet
            status: 409
            detail: Repeat the request later to receive its answer.
    AnswerErased:
      description: >-
        The request with this `Idempotency-Key` was carried out. An item in its answer was erased since, and the answer with
        it.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/answer-erased
            title: The answer was erased
            status: 410
            detail: The request was carried out. An item in its answer was erased later, and the answer with it.
    TokenExpired:
      description: >-
        The token cannot be continued. A client with a full copy requests the snapshot. A client with a window requests
        the newest items `at` the token of this response. In both cases, the result replaces the client's data.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/GoneCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/WaitRequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/token-expired
            title: The token has expired
            status: 410
            reason: epoch
            token: 1p8r2c50m1xe.4q
    TokenExpiredHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/GoneCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/WaitRequestID" }
    ItemGone:
      description: The item was retracted or has expired, or the token of `at` cannot be continued.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          examples:
            retracted:
              value:
                type: /problems/retracted
                title: The item is no longer published
                status: 410
                detail: The sailing was cancelled before publication.
                reason: retracted
            tokenExpired:
              value:
                type: /problems/token-expired
                title: The token has expired
                status: 410
                reason: epoch
                token: 1p8r2c50m1xe.4q
    ItemGoneHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
    EditorialGone:
      description: >-
        Retraction is final: the item accepts no more writes. Or the request with this `Idempotency-Key` was carried out, and
        its answer was erased with the item.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/retracted
            title: The item is no longer published
            status: 410
            detail: The sailing was cancelled before publication.
            reason: retracted
    RevisionGone:
      description: >-
        The history of the item begins after the revision: older ones were removed or erased, or are of before the history
        (`revision-removed`). Or the item is retracted, or the answer to the request was erased with it.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/revision-removed
            title: The revision is no longer stored
            status: 410
            detail: The history of the item begins later. Older revisions were removed or erased, or are of before the history.
    PreconditionFailed:
      description: A precondition of the request does not hold. Nothing was changed.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/precondition-failed
            title: A precondition does not hold
            status: 412
            detail: The resource has changed since it was read. Read it again.
    PreconditionFailedHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    BodyTooLarge:
      description: >-
        The body is larger than 1 MiB, a file is larger than the configured maximum, or the stored items that a batch changes
        are larger than 32 MiB together.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/body-too-large
            title: The body is too large
            status: 413
    UnsupportedMediaType:
      description: The resource does not accept the type of the body, or the body has a content coding.
      headers:
        Accept: { $ref: "#/components/headers/Accept" }
        Accept-Encoding: { $ref: "#/components/headers/AcceptEncoding" }
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/unsupported-media-type
            title: The media type of the body is not supported
            status: 415
    InvalidField:
      description: >-
        Fields of the body are invalid, and the response names them; or an earlier request with this `Idempotency-Key` had
        another body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/invalid-field
            title: A field of the body is not valid
            status: 422
            errors:
              - { field: date, rule: must not be in the future }
              - { field: "attachments[0].url", rule: "must be an absolute http or https URL of at most 2048 bytes, with a valid host and port, or /v1/media/{id}" }
    BatchRefused:
      description: >-
        The batch is malformed, an entry of an atomic batch was refused, or an earlier request with this `Idempotency-Key` had
        another body. Nothing was written.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/batch-refused
            title: An entry of the atomic batch was refused
            status: 422
            detail: Nothing was written. 1 of 2 entries were refused.
            results:
              - { status: 424, problem: { type: /problems/failed-dependency, title: Another entry of the batch was refused, status: 424 } }
              - id: 01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
                status: 412
                problem: { type: /problems/precondition-failed, title: A precondition does not hold, status: 412, detail: The resource has changed since it was read. Read it again. }
    PreconditionRequired:
      description: The change does not name a revision.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/precondition-required
            title: A precondition is required
            status: 428
            detail: >-
              Name the revision that the write is for, in `If-Match` or the field `revision`. `If-Match: *` accepts any;
              `If-None-Match: *` creates.
    HeadersTooLarge:
      description: The header fields are larger than 16 KiB.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/headers-too-large
            title: The header of the request is too large
            status: 431
    HeadersTooLargeHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    RequestTimeout:
      description: The request did not arrive in time. The server closes the connection.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/request-timeout
            title: The request took too long to arrive
            status: 408
    RequestTimeoutHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    TooManyRequests:
      description: >-
        There were more requests from one address or with one key than the server accepts; see `Retry-After`. If the
        limit of an address is exceeded, the server closes the connection. A request that results in a 304 counts as a
        tenth.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/RetryAfter" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/too-many-requests
            title: Too many requests
            status: 429
            detail: Try again in 7 s.
    TooManyRequestsHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/RetryAfter" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    ExpectationFailed:
      description: >-
        `Expect` has a value other than `100-continue`. The server closes the connection.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/expectation-failed
            title: The only supported expectation is 100-continue
            status: 417
    ExpectationFailedHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    InternalError:
      description: An error of the server. Its log has details under the request id.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/internal
            title: Internal server error
            status: 500
    InternalErrorHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    NotImplemented:
      description: The server supports the request for no resource. It closes the connection.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-implemented
            title: The server cannot do this for any resource
            status: 501
    VersionNotSupported:
      description: The server does not support the version of HTTP. It closes the connection.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/version-not-supported
            title: The server supports only HTTP/1.1 and HTTP/1.0
            status: 505
    Unavailable:
      description: The request cannot be served now; see `Retry-After`.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/RetryAfter" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          examples:
            unavailable:
              value:
                type: /problems/unavailable
                title: The database does not respond in time
                status: 503
            databaseFull:
              value:
                type: /problems/database-full
                title: The disk of the database is full
                status: 503
                detail: Nothing can be written until the operator of the server has made room.
            mediaUnavailable:
              value:
                type: /problems/media-unavailable
                title: The server accepts no files at present
                status: 503
            notReachedYet:
              value:
                type: /problems/not-reached-yet
                title: The server has not reached the version in `at`
                status: 503
            searchTooBroad:
              value:
                type: /problems/search-too-broad
                title: The search takes too long
                status: 503
            outcomeUnknown:
              value:
                type: /problems/outcome-unknown
                title: It is unknown whether the write was committed
                status: 503
                detail: The connection to the database broke during the commit. Repeat the request with the same id.
    UnavailableHead:
      description: The same as GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/RetryAfter" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }

  schemas:
    SyncToken:
      description: An opaque token. Equal tokens of one scope mean that nothing is new.
      type: string
      pattern: "^[A-Za-z0-9._~-]{1,32}$"
      example: 1k3v9q20m1xe.2s

    ItemID:
      type: string
      format: uuid
      pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"

    Slug:
      type: string
      pattern: "^[a-z0-9-]{1,64}$"

    LanguageTag:
      description: A BCP 47 language tag, at most 35 bytes.
      type: string
      minLength: 2
      maxLength: 35
      pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"

    Date:
      description: A date in RFC 3339 format, in UTC, with three fraction digits.
      type: string
      format: date-time
      pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"

    State:
      type: string
      enum: [draft, review, scheduled, published, retracted, expired]

    Attachment:
      description: A file of an item.
      type: object
      additionalProperties: false
      required: [url, type]
      properties:
        url:
          description: An absolute URL, or a path on this server.
          type: string
          pattern: "^(https?://|/v1/media/[0-9a-f-]{36}$)"
          maxLength: 2048
        type: { type: string, description: A media type., example: image/jpeg }
        bytes: { type: integer, minimum: 0 }
        width: { type: integer, minimum: 1, description: In pixels. }
        height: { type: integer, minimum: 1, description: In pixels. }
        alt: { type: string, description: "A text alternative, for readers who cannot see the file." }
        caption: { type: string, description: A text to show with the file. }
        credit: { type: string, description: "The author or the owner of the file, to be named with it." }
        sha256: { type: string, pattern: "^[0-9a-f]{64}$" }

    JSONFeed:
      description: A JSON Feed 1.1 (jsonfeed.org).
      type: object
      additionalProperties: false
      required: [version, title, home_page_url, feed_url, items]
      properties:
        version: { type: string, const: "https://jsonfeed.org/version/1.1" }
        title: { type: string, minLength: 1 }
        home_page_url: { type: string, pattern: "^https?://" }
        feed_url: { type: string, pattern: "^https?://", description: "The URL of the current document, also in archives." }
        next_url: { type: string, pattern: "^https?://", description: The next older archive. }
        hubs:
          type: array
          items:
            type: object
            additionalProperties: false
            required: [type, url]
            properties:
              type: { type: string, const: WebSub }
              url: { type: string, pattern: "^https?://" }
        items:
          type: array
          items: { $ref: "#/components/schemas/JSONFeedItem" }

    JSONFeedItem:
      description: An item of a JSON Feed.
      type: object
      additionalProperties: false
      required: [id, date_published, date_modified]
      anyOf:
        - { required: [content_html] }
        - { required: [content_text] }
      properties:
        id: { type: string, pattern: "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" }
        url: { type: string, pattern: "^https?://", description: The address of the item on the web. }
        title: { type: string }
        content_html: { type: string, description: Sanitised HTML. }
        content_text: { type: string, description: "The text of an item without HTML; in feeds of summaries, the summary." }
        summary: { type: string }
        date_published: { $ref: "#/components/schemas/Date" }
        date_modified: { $ref: "#/components/schemas/Date" }
        language: { $ref: "#/components/schemas/LanguageTag" }
        authors:
          type: array
          items:
            type: object
            additionalProperties: false
            required: [name]
            properties:
              name: { type: string }
        tags:
          type: array
          items: { $ref: "#/components/schemas/Slug" }
        attachments:
          type: array
          items:
            type: object
            additionalProperties: false
            required: [url, mime_type]
            properties:
              url: { type: string, pattern: "^https?://" }
              mime_type: { type: string }
              size_in_bytes: { type: integer, minimum: 0 }

    StoredFile:
      description: An uploaded file, as an attachment for items.
      type: object
      additionalProperties: false
      required: [url, type, bytes, sha256]
      properties:
        url: { type: string, pattern: "^(https?://.*)?/v1/media/[0-9a-f-]{36}$" }
        type: { type: string, description: A media type., example: image/jpeg }
        bytes: { type: integer, minimum: 1 }
        width: { type: integer, minimum: 1, description: In pixels. }
        height: { type: integer, minimum: 1, description: In pixels. }
        sha256: { type: string, pattern: "^[0-9a-f]{64}$" }

    BegunUpload:
      description: An upload that continues over several requests.
      type: object
      additionalProperties: false
      required: [upload]
      properties:
        upload:
          type: string
          pattern: "^/v1/editorial/media/uploads/[0-9a-f-]{36}$"
          description: The path to which the bytes are sent.
          example: /v1/editorial/media/uploads/5f0c3a52-0d0e-4f0c-9a8e-1d1f2c3b4a5d

    EditorialMedia:
      description: An uploaded file and its uses.
      type: object
      additionalProperties: false
      required: [id, url, type, bytes, sha256, created, uses, public]
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        url: { type: string, pattern: "^(https?://.*)?/v1/media/[0-9a-f-]{36}$" }
        type: { type: string, description: A media type., example: image/jpeg }
        bytes: { type: integer, minimum: 1 }
        width: { type: integer, minimum: 1, description: In pixels. }
        height: { type: integer, minimum: 1, description: In pixels. }
        sha256: { type: string, pattern: "^[0-9a-f]{64}$" }
        name: { type: string, maxLength: 255, description: The name under which readers save the file. }
        created: { $ref: "#/components/schemas/Date", description: The time of the first upload. }
        uses:
          description: The items that use the file, in any state; the ten newest.
          type: array
          maxItems: 10
          items: { $ref: "#/components/schemas/ItemID" }
        public: { type: boolean, description: "Whether readers can get the file, because a published item uses it." }

    EditorialMediaList:
      type: object
      additionalProperties: false
      required: [items]
      properties:
        items:
          type: array
          maxItems: 200
          items: { $ref: "#/components/schemas/EditorialMedia" }

    AttachmentInput:
      description: A file of an item, in a write. Lengths are bytes of UTF-8.
      type: object
      additionalProperties: false
      required: [url, type]
      properties:
        url:
          description: An absolute URL, or the path of a file that was uploaded to this server and exists.
          type: string
          pattern: "^(https?://[^/]|/v1/media/[0-9a-f-]{36}$)"
          maxLength: 2048
        type:
          description: A media type without parameters.
          type: string
          pattern: "^[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}$"
          example: image/jpeg
        bytes: { type: integer, minimum: 0, maximum: 9007199254740992 }
        width: { type: integer, minimum: 1, maximum: 1048576, description: In pixels. }
        height: { type: integer, minimum: 1, maximum: 1048576, description: In pixels. }
        alt: { type: string, minLength: 1, maxLength: 1024 }
        caption: { type: string, minLength: 1, maxLength: 2048 }
        credit: { type: string, minLength: 1, maxLength: 256 }
        sha256: { type: string, pattern: "^[0-9a-f]{64}$" }

    Item:
      description: A published news item. Lengths are bytes of UTF-8.
      type: object
      additionalProperties: false
      required: [id, version, date, text, topics, breaking, attachments, updated]
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        version: { type: integer, minimum: 1, description: The feed version of the last change. }
        date: { $ref: "#/components/schemas/Date" }
        text: { type: string, minLength: 1, maxLength: 262144 }
        title: { type: string, maxLength: 1024 }
        summary: { type: string, maxLength: 16384 }
        html:
          type: string
          maxLength: 524288
          description: |
            Sanitised HTML, present only with `include=html`. Links are absolute, or lead to an element of the same HTML:
            `href="#user-content-note"` to `id="user-content-note"`. These ids are unique within an item only.
        topics:
          type: array
          maxItems: 16
          uniqueItems: true
          items: { $ref: "#/components/schemas/Slug" }
        language: { $ref: "#/components/schemas/LanguageTag" }
        url: { type: string, pattern: "^https?://", maxLength: 2048 }
        author: { type: string, maxLength: 256 }
        breaking: { type: boolean }
        attachments:
          type: array
          maxItems: 32
          items: { $ref: "#/components/schemas/AttachmentInput" }
        updated:
          description: The time of the last change that readers can see. It never decreases.
          $ref: "#/components/schemas/Date"

    ItemList:
      type: object
      additionalProperties: false
      required: [items]
      properties:
        items:
          type: array
          maxItems: 200
          items: { $ref: "#/components/schemas/Item" }

    Put:
      description: The current item. It is new, or replaces the stored item with its id.
      type: object
      additionalProperties: false
      required: [op, item]
      properties:
        op: { type: string, const: put }
        item: { $ref: "#/components/schemas/Item" }

    Remove:
      description: The item is no longer in the scope. `left` means that it is still published, in other topics.
      type: object
      additionalProperties: false
      required: [op, id, reason]
      properties:
        op: { type: string, const: remove }
        id: { $ref: "#/components/schemas/ItemID" }
        reason: { type: string, enum: [retracted, expired, left] }

    ChangeEvent:
      type: object
      description: The data of an event.
      additionalProperties: false
      required: [ids, token, topics]
      properties:
        ids:
          type: array
          maxItems: 20
          description: >-
            The changed items, most recently changed first, including those that have left the scope. The list is empty
            if there were too many changes.
          items: { type: string, format: uuid }
        token: { $ref: "#/components/schemas/SyncToken" }
        topics:
          type: array
          description: The topics with changes, sorted.
          items: { type: string, pattern: "^[a-z0-9-]{1,64}$" }
    ChangeList:
      type: object
      additionalProperties: false
      required: [changes, more, token]
      properties:
        changes:
          type: array
          maxItems: 1000
          items:
            oneOf:
              - { $ref: "#/components/schemas/Put" }
              - { $ref: "#/components/schemas/Remove" }
        more: { type: boolean, description: Whether more changes are available at once with `token`. }
        snapshot: { type: boolean, const: true, description: Present only in the pages of a snapshot. }
        token: { $ref: "#/components/schemas/SyncToken" }

    FeedState:
      type: object
      additionalProperties: false
      required: [feed, topics]
      properties:
        feed: { $ref: "#/components/schemas/SyncToken" }
        topics:
          description: The tokens by slug. The object is empty if the request names no topics.
          type: object
          additionalProperties: { $ref: "#/components/schemas/SyncToken" }
        union:
          description: >-
            The token of `/v1/changes` for the union of these topics. It is omitted if the request names no topics.
          $ref: "#/components/schemas/SyncToken"

    Titles:
      description: Titles by BCP 47 language tag.
      type: object
      additionalProperties: { type: string }
      example: { de: Hafen, en: Harbour }

    Topic:
      type: object
      additionalProperties: false
      required: [slug, titles, position, items, changed]
      properties:
        slug: { $ref: "#/components/schemas/Slug" }
        titles: { $ref: "#/components/schemas/Titles" }
        position: { type: integer, description: Topics are listed by position and slug. }
        items: { type: integer, minimum: 0, description: The number of published items in the topic. }
        changed:
          description: The time of the last change of the topic or of an item in it.
          $ref: "#/components/schemas/Date"

    TopicList:
      type: object
      additionalProperties: false
      required: [topics]
      properties:
        topics:
          type: array
          items: { $ref: "#/components/schemas/Topic" }

    EditorialItem:
      description: >-
        An item with its editorial fields. As long as it was never published, `version` is 0 and `updated` is the
        creation date.
      type: object
      additionalProperties: false
      required: [id, version, text, topics, breaking, attachments, updated, state, revision, edited]
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        version: { type: integer, minimum: 0 }
        date:
          description: Absent until the item is published, if no date was given. It is then the moment of publication.
          $ref: "#/components/schemas/Date"
        text: { type: string, maxLength: 262144 }
        title: { type: string, maxLength: 1024 }
        summary: { type: string, maxLength: 16384 }
        html: { type: string, maxLength: 524288 }
        topics:
          type: array
          maxItems: 16
          uniqueItems: true
          items: { $ref: "#/components/schemas/Slug" }
        language: { $ref: "#/components/schemas/LanguageTag" }
        url: { type: string, pattern: "^https?://", maxLength: 2048 }
        author: { type: string, maxLength: 256 }
        breaking: { type: boolean }
        attachments:
          type: array
          maxItems: 32
          items: { $ref: "#/components/schemas/Attachment" }
        updated: { $ref: "#/components/schemas/Date" }
        state: { $ref: "#/components/schemas/State" }
        publishAt: { $ref: "#/components/schemas/Date", description: The time at which the item is or was to be published. }
        expireAt: { $ref: "#/components/schemas/Date", description: The time at which the item expires. }
        edited: { $ref: "#/components/schemas/Date", description: The time of the last write. }
        revision: { type: integer, minimum: 1, description: The number of writes. It serves as the lock. }
        retractionReason: { type: string, maxLength: 512 }
        erased:
          description: >-
            The time at which the texts were erased. `text` is then empty. The field is absent if the texts were not
            erased.
          $ref: "#/components/schemas/Date"

    EditorialItemList:
      type: object
      additionalProperties: false
      required: [counts, items]
      properties:
        counts:
          description: The number of all items by state. A state without items is absent.
          type: object
          additionalProperties: { type: integer, minimum: 1 }
          example: { draft: 3, published: 1204 }
        items:
          type: array
          maxItems: 200
          items: { $ref: "#/components/schemas/EditorialItem" }

    Batch:
      type: object
      additionalProperties: false
      required: [entries]
      properties:
        atomic: { type: boolean, default: false, description: Whether nothing is written if an entry is refused. }
        entries:
          type: array
          minItems: 1
          maxItems: 1000
          items: { $ref: "#/components/schemas/BatchEntry" }

    BatchEntry:
      description: >-
        A write of one item. `replace`, `modify` and `retract` name the item and the revision that they overwrite. A `create`
        may have the id in its item. No id is used twice in a batch.
      type: object
      required: [op]
      oneOf:
        - type: object
          additionalProperties: false
          required: [op, item]
          properties:
            op: { const: create }
            id: { $ref: "#/components/schemas/ItemID" }
            item: { $ref: "#/components/schemas/ItemInput" }
        - type: object
          additionalProperties: false
          required: [op, id, item]
          properties:
            op: { const: replace }
            id: { $ref: "#/components/schemas/ItemID" }
            revision: { type: integer, format: int64, minimum: 1 }
            item: { $ref: "#/components/schemas/ItemInput" }
        - type: object
          additionalProperties: false
          required: [op, id, patch]
          properties:
            op: { const: modify }
            id: { $ref: "#/components/schemas/ItemID" }
            revision: { type: integer, format: int64, minimum: 1 }
            patch: { $ref: "#/components/schemas/ItemPatch" }
        - type: object
          additionalProperties: false
          required: [op, id]
          properties:
            op: { const: retract }
            id: { $ref: "#/components/schemas/ItemID" }
            revision: { type: integer, format: int64, minimum: 1 }
            reason: { type: string, minLength: 1 }

    BatchResultList:
      type: object
      additionalProperties: false
      required: [applied, results]
      properties:
        applied: { type: integer, minimum: 0, maximum: 1000, description: The number of entries that were not refused. }
        results:
          type: array
          maxItems: 1000
          items: { $ref: "#/components/schemas/BatchResult" }

    BatchResult:
      type: object
      additionalProperties: false
      required: [status]
      properties:
        status:
          description: The status that a request with this write alone would have; 424 if another entry was refused.
          type: integer
          minimum: 200
          maximum: 599
        id:
          description: The id of the item. A refused creation without an id has none.
          $ref: "#/components/schemas/ItemID"
        item: { $ref: "#/components/schemas/EditorialItem" }
        problem: { $ref: "#/components/schemas/Problem" }

    HistoryList:
      type: object
      additionalProperties: false
      required: [entries]
      properties:
        entries:
          type: array
          maxItems: 200
          items: { $ref: "#/components/schemas/HistoryEntry" }
        incomplete:
          description: >-
            true on the last page of an item whose older writes are not stored: they were removed (`TIDINGS_HISTORY_KEEP`) or
            erased, or were made before the server had a history or in another database.
          type: boolean
          enum: [true]

    HistoryEntry:
      type: object
      additionalProperties: false
      required: [at, changes, item, revision, state]
      properties:
        at: { $ref: "#/components/schemas/Date" }
        changes:
          description: The changed fields. A creation has none.
          type: array
          items: { $ref: "#/components/schemas/FieldChange" }
        editor:
          description: The author. It is absent if the item was changed in the database by another program.
          type: object
          additionalProperties: false
          required: [kind]
          properties:
            kind:
              description: "`key`, `import`, `schedule` or, in later versions, another kind."
              type: string
              example: key
            name: { type: string, description: The name of the key., example: desk }
        item: { $ref: "#/components/schemas/ItemID" }
        revision: { type: integer, format: int64, minimum: 1, description: The revision that the write made. }
        state: { type: string, enum: [draft, review, scheduled, published, retracted, expired] }

    FieldChange:
      description: >-
        The change of a field, with its old and new values. A field without a value before or after the write lacks `old` or
        `new`. If `text`, `summary` or `html` has both, they are given as a `difference`. `erased` has no old values.
      type: object
      additionalProperties: false
      required: [field]
      properties:
        field: { type: string, example: title }
        old: { $ref: "#/components/schemas/FieldValue" }
        new: { $ref: "#/components/schemas/FieldValue" }
        difference:
          description: >-
            The parts of both texts in their order. Each part has one field: `keep` and `remove` make up the old text,
            `keep` and `add` the new one. `skip` is a number of kept characters that are left out.
          type: array
          items:
            type: object
            additionalProperties: false
            minProperties: 1
            maxProperties: 1
            properties:
              keep: { type: string }
              skip: { type: integer, minimum: 1 }
              remove: { type: string }
              add: { type: string }

    FieldValue:
      description: A text, a date, a Boolean, or an array of slugs or attachments, as in the item.
      type: [string, boolean, array]
      items: { type: [string, object] }

    ItemInput:
      description: >-
        An item to be created or replaced. Lengths are bytes of UTF-8. Texts must not be blank, and must not contain
        control characters other than tabs and line ends. No field is null. The other fields of a response (`version`,
        `updated`, `edited`, `retractionReason`, `erased`) may be sent back and are ignored. Any other field results in a 422.
      type: object
      additionalProperties: false
      required: [text]
      properties:
        id:
          description: In POST, an id of the client's choice. In PUT, the id of the path.
          $ref: "#/components/schemas/ItemID"
        revision:
          description: In PUT, the lock, instead of `If-Match`.
          type: integer
          format: int64
          minimum: 1
          maximum: 9223372036854775807
        state:
          description: >-
            The state. Without it, the item is published, or scheduled if `publishAt` is in the future. With a key that lacks
            `items:publish`, it becomes a draft. A published item that becomes a draft is withdrawn from readers.
          type: string
          enum: [draft, review, scheduled, published]
        publishAt:
          description: >-
            The time of publication, by the clock of the database. It is required, and in the future, for `scheduled`, and must
            not be in the future for `published`.
          type: string
          format: date-time
        expireAt:
          description: >-
            The time at which the item expires: after `publishAt`, and in the future for an item that readers have not seen.
          type: string
          format: date-time
        date:
          description: >-
            The date of the news, stored in milliseconds. It is at most 60 s later than `publishAt`, or than now. Without it,
            the item receives the moment of its publication.
          type: string
          format: date-time
        text: { type: string, minLength: 1, maxLength: 262144 }
        title: { type: string, minLength: 1, maxLength: 1024 }
        summary: { type: string, minLength: 1, maxLength: 16384 }
        html:
          type: string
          minLength: 1
          maxLength: 524288
          description: |
            Sanitised before storage. Frames and players become links, and pictures keep the address that a script would load.
            Ids that links inside the HTML refer to begin with `user-content-`.
        topics:
          description: Slugs of existing topics.
          type: array
          maxItems: 16
          items: { $ref: "#/components/schemas/Slug" }
        language: { $ref: "#/components/schemas/LanguageTag" }
        url: { type: string, pattern: "^https?://[^/]", maxLength: 2048 }
        author: { type: string, minLength: 1, maxLength: 256 }
        breaking: { type: boolean, default: false }
        attachments:
          type: array
          maxItems: 32
          items: { $ref: "#/components/schemas/AttachmentInput" }
        push: { $ref: "#/components/schemas/PushRequest" }
        version: { description: Ignored. }
        updated: { description: Ignored. }
        retractionReason: { description: Ignored. }
        edited: { description: Ignored. }
        erased: { description: Ignored. }

    ItemPatch:
      description: >-
        The fields to change. null removes an optional field. A patch that changes `text` of an item with `html` names `html`
        too, with null to remove it: readers who see the HTML would otherwise still see the old text.
      type: object
      additionalProperties: false
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        revision:
          description: The lock, instead of `If-Match`.
          type: integer
          format: int64
          minimum: 1
          maximum: 9223372036854775807
        state:
          description: >-
            Without it, the item keeps its state. But a `publishAt` in the future schedules a draft, and an expired item is
            published again if it no longer expires.
          type: string
          enum: [draft, review, scheduled, published]
        publishAt: { type: [string, "null"], format: date-time }
        expireAt: { type: [string, "null"], format: date-time }
        date: { type: [string, "null"], format: date-time }
        text: { type: string, minLength: 1, maxLength: 262144 }
        title: { type: [string, "null"], minLength: 1, maxLength: 1024 }
        summary: { type: [string, "null"], minLength: 1, maxLength: 16384 }
        html: { type: [string, "null"], minLength: 1, maxLength: 524288 }
        topics:
          type: [array, "null"]
          maxItems: 16
          items: { $ref: "#/components/schemas/Slug" }
        language: { type: [string, "null"], maxLength: 35, pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$" }
        url: { type: [string, "null"], pattern: "^https?://[^/]", maxLength: 2048 }
        author: { type: [string, "null"], minLength: 1, maxLength: 256 }
        breaking: { type: [boolean, "null"] }
        attachments:
          type: [array, "null"]
          maxItems: 32
          items: { $ref: "#/components/schemas/Attachment" }
        push: { $ref: "#/components/schemas/PushRequest" }
        version: { description: Ignored. }
        updated: { description: Ignored. }
        retractionReason: { description: Ignored. }
        erased: { description: Ignored. }

    EditorialTopic:
      type: object
      additionalProperties: false
      required: [slug, titles, position, items, changed, revision]
      properties:
        slug: { $ref: "#/components/schemas/Slug" }
        titles: { $ref: "#/components/schemas/Titles" }
        position: { type: integer }
        items: { type: integer, minimum: 0 }
        changed: { $ref: "#/components/schemas/Date" }
        revision: { type: integer, minimum: 1, description: The number of writes. It serves as the lock. }

    Subscription:
      type: object
      additionalProperties: false
      required: [id, paused, revision, state, topics, url]
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        url: { type: string, maxLength: 2048, description: "The address in its normal form. A permanent redirect replaces it, and so does the feed that is found on a page." }
        title: { type: string, minLength: 1, maxLength: 1024, description: "The name of the feed for editors, by default its own title." }
        topics:
          description: The topics of new items. Without any, the categories of the feed become topics.
          type: array
          maxItems: 16
          items: { $ref: "#/components/schemas/Slug" }
        state: { type: string, enum: [draft, published], description: The state of new items; published by default. }
        paused: { type: boolean, description: Whether the feed is not polled. }
        language: { $ref: "#/components/schemas/LanguageTag" }
        nextPoll: { $ref: "#/components/schemas/Date" }
        lastSuccess: { $ref: "#/components/schemas/Date" }
        lastError:
          description: The failure since the last success.
          type: object
          additionalProperties: false
          required: [at, message]
          properties:
            at: { $ref: "#/components/schemas/Date" }
            status: { type: integer, description: The status of the response; absent without one. }
            message: { type: string }
        losses:
          description: >-
            What could not be kept of the feed as it was read last: entries that were skipped or shortened, and dates that
            cannot be read. Absent if nothing was lost.
          type: object
          additionalProperties: false
          required: [at, count, messages]
          properties:
            at: { $ref: "#/components/schemas/Date" }
            count: { type: integer, minimum: 1, description: The number of losses. }
            messages:
              description: The first losses, in words.
              type: array
              maxItems: 10
              items: { type: string }
        websub:
          description: >-
            The lease at a WebSub hub that the feed names. While it is active, the hub notifies of changes, and polls are
            rare. Absent if the feed has no hub, or the server no `TIDINGS_PUBLIC_URL`.
          type: object
          additionalProperties: false
          required: [hub, state]
          properties:
            hub: { type: string, description: The address of the hub. }
            state: { type: string, enum: [pending, active], description: "`pending` until the hub has confirmed the lease." }
            leaseEnds: { $ref: "#/components/schemas/Date" }
            lastNotice: { $ref: "#/components/schemas/Date" }
            error: { type: string, description: "The failure since the last confirmation, in words." }
        user: { type: string, maxLength: 256, description: "The user for HTTP Basic; absent for a feed without a password. The password is never returned." }
        revision: { type: integer, minimum: 1, description: The number of writes by editors and of new addresses. }

    SubscriptionList:
      type: object
      additionalProperties: false
      required: [subscriptions]
      properties:
        subscriptions:
          type: array
          items: { $ref: "#/components/schemas/Subscription" }

    PushRequest:
      description: >-
        With `alert`, readers who want alerts are notified of the item once it is published, which needs the scope `push:send`. An
        item has at most one alert, which no later write repeats.
      type: object
      additionalProperties: false
      properties:
        alert: { type: boolean, default: false }
    PushProvider:
      description: Apple Push Notification service, Firebase Cloud Messaging, or Web Push (RFC 8030).
      type: string
      enum: [apns, fcm, webpush]
    PushOffer:
      type: object
      required: [providers]
      properties:
        providers: { type: array, items: { $ref: "#/components/schemas/PushProvider" } }
        webPush:
          type: object
          required: [publicKey]
          properties:
            publicKey:
              description: The `applicationServerKey` of `PushManager.subscribe()` in base64url (RFC 8292).
              type: string
    DeviceRegistration:
      description: Any other field results in a 422.
      type: object
      additionalProperties: false
      required: [provider]
      properties:
        provider: { $ref: "#/components/schemas/PushProvider" }
        kind:
          description: >-
            The receiver. A device of `apns` or `fcm` is an `app`, one of `webpush` a `browser`, which receives alerts only, or
            `unifiedpush`.
          type: string
          enum: [app, unifiedpush, browser]
          default: app
        token: { type: string, minLength: 1, maxLength: 2048, description: "The device token of APNs in hexadecimal, or the registration token of FCM." }
        subscription: { $ref: "#/components/schemas/WebPushSubscription" }
        app: { type: string, minLength: 1, maxLength: 155, description: "The bundle id. Only for apns, which needs it." }
        environment: { type: string, enum: [production, sandbox], description: "Only for apns; production by default." }
        topics:
          description: >-
            The topics whose changes wake the device. Without the field, it is woken for the whole feed. The name of a topic that
            was merged into another one stands for that.
          type: array
          minItems: 1
          maxItems: 100
          items: { $ref: "#/components/schemas/Slug" }
        languages:
          description: The languages of items with which alerts are wanted; without the field, all.
          type: array
          minItems: 1
          maxItems: 20
          items: { $ref: "#/components/schemas/LanguageTag" }
        alerts: { type: boolean, default: false, description: Whether visible alerts are wanted. }
        timeZone: { type: string, maxLength: 64, description: "The zone of the quiet hours, such as Europe/Berlin; UTC by default." }
        quiet:
          description: Hours without silent pushes, and with breaking alerts only.
          type: object
          additionalProperties: false
          required: [from, to]
          properties:
            from: { type: string, pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$" }
            to: { type: string, pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$", description: The end; different from `from`. }
    WebPushSubscription:
      description: The form of `PushSubscription.toJSON()`. `expirationTime` is ignored.
      type: object
      additionalProperties: false
      required: [endpoint, keys]
      properties:
        endpoint: { type: string, maxLength: 2048, description: An https URL of a push service that the server sends to. }
        expirationTime: { description: Ignored. }
        keys:
          type: object
          additionalProperties: false
          required: [p256dh, auth]
          properties:
            p256dh: { type: string, description: "An uncompressed point on P-256 in base64url, 65 bytes." }
            auth: { type: string, description: 16 bytes in base64url. }
    DeviceCredentials:
      type: object
      required: [expires, id, secret]
      properties:
        expires: { type: string, format: date-time }
        id: { $ref: "#/components/schemas/ItemID" }
        secret: { type: string, description: The bearer token of the device. }
    DeviceConfirmation:
      type: object
      additionalProperties: false
      required: [code]
      properties:
        code: { type: string, minLength: 1, maxLength: 256 }
    DeviceReport:
      type: object
      additionalProperties: false
      required: [token]
      properties:
        token: { $ref: "#/components/schemas/SyncToken" }
        push: { description: The push that has woken the device., $ref: "#/components/schemas/ItemID" }
        result: { type: string, enum: [newData, noData, failed] }
    AlertRequest:
      type: object
      additionalProperties: false
      required: [item]
      properties:
        item: { $ref: "#/components/schemas/ItemID" }
        dryRun: { type: boolean, default: false }
    AlertState:
      type: object
      required: [state]
      properties:
        push: { description: The alert., $ref: "#/components/schemas/ItemID" }
        state:
          description: >-
            Whether the alert waits for the publication of the item, was made, or was cancelled because the item was taken down.
          type: string
          enum: [waiting, released, cancelled]
    PushAudience:
      type: object
      required: [devices, providers, quiet]
      properties:
        devices: { type: integer, minimum: 0 }
        providers: { type: object, additionalProperties: { type: integer, minimum: 1 } }
        quiet: { type: integer, minimum: 0, description: The devices that have their quiet hours. }
    PushList:
      type: object
      required: [pushes]
      properties:
        pushes: { type: array, items: { $ref: "#/components/schemas/Push" } }
    Push:
      type: object
      required: [audience, created, dropped, foundNews, gone, id, kind, refused, reports, sent, starts, woke]
      properties:
        audience: { type: integer, minimum: 0, description: The devices that the push is for. }
        cancelled: { type: string, format: date-time }
        created: { type: string, format: date-time }
        dropped: { type: integer, minimum: 0, description: "Messages that were not sent, for instance in quiet hours." }
        finished: { type: string, format: date-time, description: The time at which all devices were found. }
        foundNews: { type: integer, minimum: 0, description: The reports of news. }
        gone: { type: integer, minimum: 0, description: The devices that were found to be gone. }
        id: { $ref: "#/components/schemas/ItemID" }
        item: { $ref: "#/components/schemas/ItemID" }
        kind: { type: string, enum: [silent, alert, retraction] }
        lastSent: { type: string, format: date-time }
        refused: { type: integer, minimum: 0, description: Messages that a push service has refused. }
        reports: { type: integer, minimum: 0, description: "The devices that have reported, of the share that was asked to." }
        sent: { type: integer, minimum: 0, description: Messages that a push service has accepted. }
        starts: { type: string, format: date-time }
        title: { type: string }
        woke: { type: integer, minimum: 0, description: The reports of a device that the push has woken. }
    SubscriptionInput:
      type: object
      additionalProperties: false
      properties:
        url: { type: string, maxLength: 2048, description: "An http or https URL. A user and a password in it are read as `user` and `password`." }
        title: { type: string, minLength: 1, maxLength: 1024, description: The name of the feed for editors. }
        topics:
          description: The topics of new items. Without any, the categories of the feed become topics.
          type: array
          maxItems: 16
          items: { $ref: "#/components/schemas/Slug" }
        state: { type: string, enum: [draft, published], description: The state of new items; published by default. }
        paused: { type: boolean, description: Whether the feed is not polled. }
        language: { $ref: "#/components/schemas/LanguageTag" }
        user: { type: string, minLength: 1, maxLength: 256, description: "The user for HTTP Basic. A server without `TIDINGS_FEED_PASSWORD_KEY` stores none." }
        password: { type: string, maxLength: 1024, writeOnly: true, description: "The password. Without it, that of the same user and origin is kept." }
        revision: { description: Ignored. }
        id: { description: Ignored. }
        lastError: { description: Ignored. }
        lastSuccess: { description: Ignored. }
        losses: { description: Ignored. }
        nextPoll: { description: Ignored. }
        websub: { description: Ignored. }

    SubscriptionPatch:
      description: null removes a field.
      type: object
      additionalProperties: false
      properties:
        url: { type: string, maxLength: 2048, description: "An http or https URL. A user and a password in it are read as `user` and `password`." }
        title: { type: [string, "null"], minLength: 1, maxLength: 1024, description: The name of the feed for editors. }
        topics:
          description: The topics of new items. Without any, the categories of the feed become topics.
          type: [array, "null"]
          maxItems: 16
          items: { $ref: "#/components/schemas/Slug" }
        state: { type: [string, "null"], enum: [draft, published, null], description: The state of new items; published by default. }
        paused: { type: [boolean, "null"], description: Whether the feed is not polled. }
        language: { oneOf: [{ $ref: "#/components/schemas/LanguageTag" }, { type: "null" }] }
        user: { type: [string, "null"], minLength: 1, maxLength: 256, description: "The user for HTTP Basic. A server without `TIDINGS_FEED_PASSWORD_KEY` stores none." }
        password: { type: [string, "null"], maxLength: 1024, writeOnly: true, description: "The password. Without it, that of the same user and origin is kept." }
        revision: { type: integer, format: int64, minimum: 1, maximum: 9223372036854775807, description: "The lock, instead of `If-Match`." }
        id: { description: Ignored. }
        lastError: { description: Ignored. }
        lastSuccess: { description: Ignored. }
        losses: { description: Ignored. }
        nextPoll: { description: Ignored. }
        websub: { description: Ignored. }

    Webhook:
      type: object
      additionalProperties: false
      required: [created, events, id, paused, revision, url]
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        url: { type: string, maxLength: 2048, description: The address in its normal form. }
        events:
          description: The types of the events.
          type: array
          minItems: 1
          uniqueItems: true
          items: { type: string, enum: [item.published, item.changed, item.retracted, item.expired] }
        topics:
          description: >-
            The topics of the items, those included that an item leaves with the change. Absent for all items. An empty array
            remains if all of the topics were deleted, and no event fits then.
          type: array
          maxItems: 32
          items: { $ref: "#/components/schemas/Slug" }
        paused: { type: boolean, description: Whether nothing is sent. }
        disabledReason:
          description: >-
            The reason for which the server has paused the webhook: the status 410 of the receiver (`gone`), or five days
            without a success (`failing`). Absent if it has not.
          type: string
          enum: [gone, failing]
        created: { $ref: "#/components/schemas/Date" }
        lastSuccess: { $ref: "#/components/schemas/Date" }
        failingSince: { $ref: "#/components/schemas/Date" }
        previousSecretUntil: { $ref: "#/components/schemas/Date" }
        secret:
          description: The key of the signatures, in base64 after the prefix. Only the answers to a creation and a rotation have it.
          type: string
          pattern: "^whsec_[A-Za-z0-9+/]{32,86}={0,2}$"
        revision: { type: integer, minimum: 1, description: "The number of writes by editors, rotations, and pauses by the server." }

    WebhookList:
      type: object
      additionalProperties: false
      required: [webhooks]
      properties:
        webhooks:
          type: array
          maxItems: 100
          items: { $ref: "#/components/schemas/Webhook" }

    WebhookInput:
      type: object
      additionalProperties: false
      properties:
        url:
          type: string
          maxLength: 2048
          description: >-
            An http or https URL without user name and password. An IP address that the server may not send to, and localhost,
            are refused.
        events:
          description: The types of the events; all by default.
          type: array
          minItems: 1
          maxItems: 4
          uniqueItems: true
          items: { type: string, enum: [item.published, item.changed, item.retracted, item.expired] }
        topics:
          description: The topics of the items; all items by default.
          type: array
          minItems: 1
          maxItems: 32
          items: { $ref: "#/components/schemas/Slug" }
        paused: { type: boolean, description: Whether nothing is sent. }
        revision: { description: Ignored. }
        created: { description: Ignored. }
        disabledReason: { description: Ignored. }
        failingSince: { description: Ignored. }
        id: { description: Ignored. }
        lastSuccess: { description: Ignored. }
        previousSecretUntil: { description: Ignored. }

    WebhookPatch:
      description: null removes a field.
      type: object
      additionalProperties: false
      properties:
        url: { type: string, maxLength: 2048, description: An http or https URL without user name and password. }
        events:
          description: The types of the events; all by default.
          type: [array, "null"]
          minItems: 1
          maxItems: 4
          uniqueItems: true
          items: { type: string, enum: [item.published, item.changed, item.retracted, item.expired] }
        topics:
          description: The topics of the items; all items by default.
          type: [array, "null"]
          minItems: 1
          maxItems: 32
          items: { $ref: "#/components/schemas/Slug" }
        paused: { type: [boolean, "null"], description: Whether nothing is sent. }
        revision: { type: integer, format: int64, minimum: 1, maximum: 9223372036854775807, description: "The lock, instead of `If-Match`." }
        created: { description: Ignored. }
        disabledReason: { description: Ignored. }
        failingSince: { description: Ignored. }
        id: { description: Ignored. }
        lastSuccess: { description: Ignored. }
        previousSecretUntil: { description: Ignored. }

    WebhookDelivery:
      type: object
      additionalProperties: false
      required: [attempts, created, event, id, state]
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        event: { type: string, enum: [item.published, item.changed, item.retracted, item.expired, webhook.test] }
        item: { $ref: "#/components/schemas/ItemID" }
        version: { type: integer, minimum: 1, description: The version of the item. }
        state: { type: string, enum: [due, delivered, failed], description: "`failed` after the last attempt." }
        created: { $ref: "#/components/schemas/Date" }
        nextAttempt:
          description: The time of the next attempt, or of its repetition if one is under way and its server dies.
          $ref: "#/components/schemas/Date"
        attempts:
          description: The last attempts, oldest first.
          type: array
          maxItems: 20
          items:
            type: object
            additionalProperties: false
            required: [at, milliseconds, number]
            properties:
              number: { type: integer, minimum: 1 }
              at: { $ref: "#/components/schemas/Date" }
              status: { type: integer, description: The status of the response; absent without one. }
              milliseconds: { type: integer, minimum: 0, description: The duration. }
              error: { type: string, description: "The reason of a failure, in words." }

    WebhookDeliveryList:
      type: object
      additionalProperties: false
      required: [deliveries]
      properties:
        deliveries:
          type: array
          maxItems: 200
          items: { $ref: "#/components/schemas/WebhookDelivery" }

    EditorialTopicList:
      type: object
      additionalProperties: false
      required: [topics]
      properties:
        topics:
          type: array
          items: { $ref: "#/components/schemas/EditorialTopic" }

    TopicInput:
      description: POST requires the slug. In PUT, it is the slug of the path and may be omitted.
      type: object
      additionalProperties: false
      properties:
        slug: { $ref: "#/components/schemas/Slug" }
        revision:
          description: In PUT, the lock, instead of `If-Match`.
          type: integer
          format: int64
          minimum: 1
          maximum: 9223372036854775807
        titles:
          description: Titles by BCP 47 language tag. Lengths are bytes of UTF-8.
          type: object
          maxProperties: 64
          propertyNames: { $ref: "#/components/schemas/LanguageTag" }
          additionalProperties: { type: string, minLength: 1, maxLength: 256 }
        position: { type: integer, minimum: -1000000, maximum: 1000000, default: 0 }
        items: { description: Ignored. }
        changed: { description: Ignored. }

    Health:
      type: object
      additionalProperties: false
      required: [status, version]
      properties:
        status: { type: string, const: ok }
        version: { type: string, description: "The version of the server (Semantic Versioning 2.0.0)." }

    Readiness:
      type: object
      additionalProperties: false
      required: [status]
      properties:
        status: { type: string, const: ready }
        writes:
          description: >-
            The reason for which the database accepts no writes, as the last one has shown; absent if it accepts them.
            Such a server is ready, because it serves reads.
          type: string
          enum: [database-full, database-failed, database-read-only]

    FieldError:
      type: object
      additionalProperties: false
      required: [field, rule]
      properties:
        field: { type: string, description: "The query parameter, or the path of the field: `attachments[0].url`." }
        rule: { type: string, description: "The broken rule, without its subject: `must be a number from 1 to 200`." }

    Problem:
      description: Problem details (RFC 9457) with the members of this API.
      type: object
      additionalProperties: false
      required: [type, title, status]
      properties:
        type:
          description: The stable type of the problem; see the table at the top.
          type: string
          enum:
            - /problems/invalid-parameter
            - /problems/malformed-request
            - /problems/malformed-body
            - /problems/idempotency-key-unsupported
            - /problems/unauthorized
            - /problems/forbidden
            - /problems/topic-not-allowed
            - /problems/not-found
            - /problems/method-not-allowed
            - /problems/request-timeout
            - /problems/already-followed
            - /problems/conflict
            - /problems/media-in-use
            - /problems/topic-in-use
            - /problems/not-retracted
            - /problems/retracted
            - /problems/withdrawn
            - /problems/token-expired
            - /problems/callback-ended
            - /problems/subscription-paused
            - /problems/webhook-limit
            - /problems/upload-offset
            - /problems/upload-in-progress
            - /problems/upload-limit
            - /problems/webhook-paused
            - /problems/feeds-not-configured
            - /problems/precondition-failed
            - /problems/body-too-large
            - /problems/batch-too-large
            - /problems/unsupported-media-type
            - /problems/unsupported-content-coding
            - /problems/range-not-satisfiable
            - /problems/expectation-failed
            - /problems/invalid-field
            - /problems/precondition-required
            - /problems/too-many-requests
            - /problems/headers-too-large
            - /problems/internal
            - /problems/not-implemented
            - /problems/media-not-kept
            - /problems/media-unavailable
            - /problems/unavailable
            - /problems/database-full
            - /problems/database-failed
            - /problems/database-read-only
            - /problems/not-reached-yet
            - /problems/search-too-broad
            - /problems/outcome-unknown
            - /problems/version-not-supported
            - /problems/storage-failed
            - /problems/storage-full
            - /problems/storage-read-only
            - /problems/batch-refused
            - /problems/request-in-progress
            - /problems/idempotency-key-reused
            - /problems/answer-erased
            - /problems/revision-removed
            - /problems/failed-dependency
        title: { type: string }
        status: { type: integer, minimum: 400, maximum: 599 }
        detail: { type: string }
        errors:
          description: >-
            The invalid parameters or fields. At most 32 are named. An element with the field `*` then has the number of
            the others.
          type: array
          minItems: 1
          maxItems: 33
          items: { $ref: "#/components/schemas/FieldError" }
        reason:
          description: The reason why an item, a file or a token is no longer valid.
          type: string
          enum: [retracted, expired, removed, epoch, scope, ahead]
        token:
          description: A current token from which the client can start.
          $ref: "#/components/schemas/SyncToken"
        results:
          description: The results of the entries of a refused batch.
          type: array
          items: { $ref: "#/components/schemas/BatchResult" }

"""#
