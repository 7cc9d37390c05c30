// Made by scripts/embed from openapi.yaml; do not edit.
// swift-format-ignore-file

let embeddedOpenAPI = #"""
openapi: 3.1.0
info:
  title: Tidings
  version: "1"
  summary: News for clients that come back often and mostly find nothing new.
  license:
    name: Apache-2.0
    identifier: Apache-2.0
  description: |
    **Reading** needs no key. Every public answer has an entity tag: send it back in `If-None-Match` and "nothing new"
    is a 304 of a few hundred bytes. A client that keeps a copy follows `/v1/changes`: it stores the `token` of each
    answer and sends it as `since`; what it then holds is exactly what the server has, deletions included.

    **Writing** happens under `/v1/editorial/` with a key (`Authorization: Bearer KEY`). The lock of an item is its
    `revision`: a write names the revision it was made for, in `If-Match` or in the body.

    **Files** are uploaded to `/v1/editorial/media`; the answer is what goes into the `attachments` of an item. They are
    kept once for each content, read in parts or whole from `/v1/media/{id}`, and removed when no item has used them for
    a week or as long as the server is set to.

    **Taking down**: `DELETE /v1/editorial/items/{id}` retracts an item, and its files answer 410 with it;
    `DELETE /v1/editorial/media/{id}` removes a file that no published item uses; `POST /v1/editorial/items/{id}/erase`
    removes the texts and files of a retracted item for good.

    **JSON**: keys are sorted, dates are RFC 3339 in UTC with three fraction digits, absent fields are left out and
    never null, arrays are always there, ids are in lower case. `/v1` changes by addition only: ignore fields, `op`s and
    problem types you do not know. The schemas here are closed because they describe what this version sends.

    **Errors** are problem details (RFC 9457). `type` is stable and meant for programs:

    | type | status | when |
    |---|---|---|
    | `/problems/invalid-parameter` | 400 | a query parameter is unknown, repeated, empty or malformed; `errors` names it and the rule |
    | `/problems/malformed-request` | 400 | the message is not proper HTTP: framing, `Host`, target or header lines |
    | `/problems/malformed-body` | 400 | the body is not JSON, not UTF-8, nested deeper than 32, or has a key of more than 256 bytes |
    | `/problems/idempotency-key-unsupported` | 400 | `Idempotency-Key` was sent; repeat safely with an `id` of your own instead |
    | `/problems/unauthorized` | 401 | no key, or not a valid one |
    | `/problems/forbidden` | 403 | the key lacks the scope |
    | `/problems/not-found` | 404 | there is nothing of that name |
    | `/problems/method-not-allowed` | 405 | the resource has other methods; see `Allow` |
    | `/problems/request-timeout` | 408 | a header takes longer than 10 s, or a body pauses for 30 s or comes at less than 1 KiB a second |
    | `/problems/conflict` | 409 | the id or slug is taken by something else |
    | `/problems/media-in-use` | 409 | a published item uses the file that is to be removed; `detail` names some |
    | `/problems/not-retracted` | 409 | only a retracted item can be erased |
    | `/problems/retracted` | 410 | the item was taken back; `reason` is `retracted` or `expired`, `detail` the editor's words |
    | `/problems/withdrawn` | 410 | the file was taken down: only retracted (`retracted`) or expired (`expired`) items use it, or it was removed (`removed`) |
    | `/problems/token-expired` | 410 | the token cannot be continued; `reason` is `epoch`, `scope`, `expired` or `ahead`, `token` a current one |
    | `/problems/precondition-failed` | 412 | `If-Match`, `If-None-Match`, `If-Unmodified-Since` or `revision` does not hold |
    | `/problems/body-too-large` | 413 | more than 1 MiB, or, for a file, than the server takes: 2 GiB if nothing else is set |
    | `/problems/unsupported-media-type` | 415 | not JSON; or a file of a kind that is not kept, or that does not begin as its type does |
    | `/problems/unsupported-content-coding` | 415 | the body has a `Content-Encoding` |
    | `/problems/range-not-satisfiable` | 416 | no range lies within the file; `Content-Range` has its length |
    | `/problems/expectation-failed` | 417 | `Expect` asks for something else than `100-continue` |
    | `/problems/invalid-field` | 422 | fields of the body break rules, or a file has another digest than its header says; `errors` names all of them |
    | `/problems/precondition-required` | 428 | a change or a retraction without a lock |
    | `/problems/too-many-requests` | 429 | more than the server takes from one address or with one key; see `Retry-After` |
    | `/problems/headers-too-large` | 431 | more than 16 KiB of header fields |
    | `/problems/internal` | 500 | a fault of the server |
    | `/problems/not-implemented` | 501 | no resource has such a method, or the body has a transfer coding besides chunked |
    | `/problems/media-not-kept` | 501 | this server keeps no files |
    | `/problems/unavailable` | 503 | the database cannot be reached, or too much is waiting; see `Retry-After` |
    | `/problems/not-reached-yet` | 503 | the version of `at` has not come within a second; see `Retry-After` |
    | `/problems/search-too-broad` | 503 | the search takes longer than a second; look for rarer words |
    | `/problems/outcome-unknown` | 503 | the connection broke in the commit: repeat with the same id, or look |
    | `/problems/version-not-supported` | 505 | neither HTTP/1.1 nor HTTP/1.0 |
    | `/problems/storage-full` | 507 | there is no room for the file |

    Not repeated at every operation: an unknown path is a 404 (`UnknownPath`), another method a 405
    (`MethodNotAllowed`), a method that no resource has a 501 (`NotImplemented`), another version of HTTP a 505
    (`VersionNotSupported`), and unknown query parameters are a 400 also where there are none.
servers:
  - url: /
tags:
  - name: public
    description: What readers see. Cacheable, no key, any origin.
  - name: editorial
    description: What editors see and do.
  - name: operation
    description: For those who run the server.

paths:
  /v1/items:
    get:
      operationId: getItems
      tags: [public]
      summary: The newest items, or a page of older ones
      description: >-
        Ordered by `date` descending, then `id` descending. The address of the next page is in `Link`; a page ends
        early at 1 MiB.
      parameters:
        - { $ref: "#/components/parameters/Limit" }
        - { $ref: "#/components/parameters/Cursor" }
        - { $ref: "#/components/parameters/Topics" }
        - { $ref: "#/components/parameters/Language" }
        - { $ref: "#/components/parameters/Author" }
        - { $ref: "#/components/parameters/From" }
        - { $ref: "#/components/parameters/To" }
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
        - { name: id, in: path, required: true, description: Not looked at., schema: { type: string } }
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
      summary: What has changed since a token
      description: >-
        Without `since` the answer is the authoritative snapshot: every page has `snapshot: true`, and once a page
        without `more` has come, what was received replaces what the client held. With `since` it is the
        difference, in the order of versions. While `more` is true, ask again at once with the new token. The
        entity tag of an answer without `more` is the token in quotes: a client at T asks `since=T` with
        `If-None-Match: "T"` and gets a 304 when nothing is new. With `more` the tag is made of the content.
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
        For clients that follow several topics apart: one small answer tells which of them have changed.
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
      summary: A stream that says when something changes
      description: >-
        Server-sent events (HTML standard, section 9.2): one for each publish in the scope, or for several that came at
        once. The `id` is the current token, the data a ChangeEvent; fetch `/v1/changes` with the token you have. A
        stream goes on behind `Last-Event-ID`, or else `since`, without a gap. An event of the type `resync` says that
        it cannot: take the snapshot. A stream begins with the `id` it goes on from and with `retry`; comments show
        that it lives. It ends when the server does, or when its reader is too slow, with a `retry` that is another for
        each reader.
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
      summary: All topics, by position and slug
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
        - { name: slug, in: path, required: true, description: Not looked at., schema: { type: string } }
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
        The bytes, type and name under an address never change. A file that is taken down answers 410: while only
        retracted items use it, or after it was removed. `Range` takes a part; several ranges are answered with the whole
        file, and so is a part of another file than `If-Range` names.
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
        - { name: id, in: path, required: true, description: Not looked at., schema: { type: string } }
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
    post:
      operationId: uploadMedia
      tags: [editorial]
      summary: Stores a file
      description: |
        The body is the file, of any length up to what the server is set to (2 GiB if nothing else is), with
        `Content-Length` or chunked. `Expect: 100-continue` is worth sending: what the header shows to be wrong is
        refused before the body.

        The answer is an attachment, to be put into an item as it is, with an `alt` perhaps. Its `url` is absolute where
        the server has been told its own address, and a path otherwise; items take either. Width and height are those of
        the picture as it is shown, where its header tells.

        The same content of the same type is there once, under the id and the name that it had first: to upload it
        again, after a connection that broke or by mistake, is no error and answers 200 with the same `Location`. A file
        that no item uses is removed after a week, or as long as the server is set to, from the last upload on or from
        when the last item let go of it; one that an item uses, be it a draft or a retracted one, stays. A file that only
        retracted items use answers 410, also after it is uploaded again, until a published item uses it.

        `Content-Type: application/octet-stream` leaves the type to the server, which recognises it by the first bytes of
        the file. A container that may hold sound or pictures needs its own type: `audio/mp4`, `audio/webm` and
        `video/ogg` are taken for `video/mp4`, `video/webm` and `audio/ogg` otherwise. The file must begin as a declared
        type does. These types are kept: image/jpeg, image/png, image/gif, image/webp, image/avif, image/heic,
        image/heif, application/pdf, video/mp4, audio/mp4, video/quicktime, video/webm, audio/webm, audio/ogg,
        video/ogg, audio/mpeg, audio/aac, audio/flac, audio/wav.
      security:
        - key: ["media:write"]
      parameters:
        - name: Content-Disposition
          in: header
          description: >-
            The name of the file (RFC 6266), 255 bytes at most: readers who save it get it with this name. Of a path
            only the last part is taken.
          schema: { type: string }
          example: attachment; filename="ferry.jpg"
        - name: Repr-Digest
          in: header
          description: SHA-256 of the file (RFC 9530), which is compared with what comes. `Content-Digest` does the same.
          schema: { type: string }
          example: "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
        - name: Content-Digest
          in: header
          description: As `Repr-Digest`; files have no content coding.
          schema: { type: string }
      requestBody: { $ref: "#/components/requestBodies/NewMedia" }
      responses:
        "200": { $ref: "#/components/responses/MediaKept" }
        "201": { $ref: "#/components/responses/MediaStored" }
        "400": { $ref: "#/components/responses/BadRequest" }
        "401": { $ref: "#/components/responses/Unauthorized" }
        "403": { $ref: "#/components/responses/Forbidden" }
        "408": { $ref: "#/components/responses/RequestTimeout" }
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

  /v1/editorial/media/{id}:
    delete:
      operationId: removeMedia
      tags: [editorial]
      summary: Removes a file for good
      description: >-
        Its address answers 410 from then on. While a published item uses it, the request is refused with 409
        `media-in-use`. Drafts lose it: one that names it in `attachments` cannot be written until the attachment is
        removed. To remove a file that is removed already is a 204. An upload of the same content gets another address.
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
      summary: Items in any state, newest first
      description: Ordered like the public list; the address of the next page is in `Link`.
      security:
        - key: ["items:write"]
      parameters:
        - { $ref: "#/components/parameters/State" }
        - { $ref: "#/components/parameters/Topics" }
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
      summary: Makes an item and, by default, publishes it
      description: >-
        With an `id` of the client's the request may be repeated: the same content answers 200, other content 409.
      security:
        - key: ["items:write"]
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

  /v1/editorial/items/{id}:
    get:
      operationId: getEditorialItem
      tags: [editorial]
      summary: An item as its editors see it
      description: Retracted and expired items too.
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
      summary: Replaces an item, or makes it
      description: >-
        Fields left out are removed. The lock is `If-Match` or the body's `revision` (both given and different:
        412; neither: 428). With `If-None-Match: *` it only makes a new item. A write that changes nothing takes
        no version. A retracted item stays retracted (410); a published one does not become a draft again (422).
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
        JSON Merge Patch (RFC 7396): fields left out stay, null removes. The lock is that of PUT.
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
      summary: Retracts an item for good
      description: >-
        Followers remove it, and its public address answers 410 with the reason. So do the addresses of its files, unless
        a published item uses them. The lock is `If-Match` (428 without it); `If-Match: *` retracts any revision.
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
      summary: Erases the texts of a retracted item for good
      description: >-
        Title, summary, text, HTML, URL, author, language, attachments, the reason of the retraction and the source of an
        import are removed from the database, with the files that no other item uses. Its id, dates, topics and state
        stay: followers still receive its removal, its address answers 410, and an import does not bring it back. Only a
        retracted item can be erased (409 `not-retracted` otherwise). The request may be repeated. `If-Match` is honoured
        and not required, because a retracted item does not change.
      security:
        - key: ["items:write"]
      parameters:
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
      summary: Makes a topic
      description: The request may be repeated; the same content answers 200, other content 409.
      security:
        - key: ["items:write"]
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
      summary: Replaces titles and position of a topic
      description: The lock is that of items. A slug never changes.
      security:
        - key: ["items:write"]
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

  /healthz:
    get:
      operationId: getHealth
      tags: [operation]
      summary: The process runs
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
      summary: "The process can answer: the database is known and not too long out of reach"
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
      summary: What Prometheus collects
      description: >-
        Counters of this process and gauges of the moment, in the text format of Prometheus. Requests are counted by the
        pattern of their path, never by the path itself. For the operator's network alone: a proxy should not pass it on.
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
      description: A key from `tidings keys create`. Its scopes decide what it may do; `items:write` covers items and topics, `media:write` files.

  parameters:
    ItemID:
      name: id
      in: path
      required: true
      description: Anything but a UUID is a 404.
      schema: { $ref: "#/components/schemas/ItemID" }
    Slug:
      name: slug
      in: path
      required: true
      description: Anything but a slug is a 404.
      schema: { $ref: "#/components/schemas/Slug" }
    Limit:
      name: limit
      in: query
      description: The most items of a page.
      schema: { type: integer, minimum: 1, maximum: 200, default: 50 }
    ChangeLimit:
      name: limit
      in: query
      description: The most changes of a page.
      schema: { type: integer, minimum: 1, maximum: 1000, default: 200 }
    Cursor:
      name: cursor
      in: query
      description: >-
        Where a page begins: opaque, taken from `Link`, good with the same filters only.
      schema: { type: string, minLength: 1 }
    Topics:
      name: topics
      in: query
      description: >-
        Only what is in any of these topics: 1 to 32 slugs between commas. An unknown one is a 400.
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
      description: Only items of this author, exactly as written; at most 256 bytes.
      schema: { type: string, minLength: 1, maxLength: 256 }
    From:
      name: from
      in: query
      description: Only items of this date (RFC 3339) or later.
      example: "2026-11-01T00:00:00Z"
      schema: { type: string, format: date-time }
    To:
      name: to
      in: query
      description: Only items before this date (RFC 3339).
      example: "2026-11-15T00:00:00+01:00"
      schema: { type: string, format: date-time }
    Search:
      name: q
      in: query
      description: >-
        Only items that have all of these words and "phrases in double quotes" in title, summary or text, and none of
        those after a -minus sign; at most 256 bytes. Case does not count. Words are found as they are written, and
        with `language` in their other forms too. What takes longer than a second is a 503 (`search-too-broad`).
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
        The token of the last answer. One that is malformed is a 400; one of another scope or of a history that is
        gone is a 410 with a current token.
      schema: { $ref: "#/components/schemas/SyncToken" }
    EventsSince:
      name: since
      in: query
      description: >-
        What the client has, where it cannot send `Last-Event-ID`; the token of any answer about the scope. One that
        is no longer good begins the stream with `resync`.
      schema: { $ref: "#/components/schemas/SyncToken" }
    LastEventID:
      name: Last-Event-ID
      in: header
      description: The `id` of the last event of an earlier stream of the same scope; it counts more than `since`.
      schema: { type: string }
    Wait:
      name: wait
      in: query
      description: >-
        For how many seconds the answer may wait for something new after `since`, which it needs. It comes as soon as
        there is something, and says that nothing is new once the time is over or the server is about to end. No cache
        stores it.
      schema: { type: integer, minimum: 1, maximum: 50 }
    At:
      name: at
      in: query
      description: >-
        A token from a push, an event or a 410: the answer is of its version or later. One that is not reached
        within a second is a 503. It is part of the address, so no cache answers from before.
      schema: { $ref: "#/components/schemas/SyncToken" }
    State:
      name: state
      in: query
      description: Only items in this state.
      schema: { $ref: "#/components/schemas/State" }
    Reason:
      name: reason
      in: query
      description: >-
        Why, in words for readers: at most 512 bytes. The public 410 shows it.
      schema: { type: string, minLength: 1, maxLength: 512 }
    EraseReason:
      name: reason
      in: query
      description: >-
        Why, in words for readers: at most 512 bytes. It takes the place of the reason of the retraction, which is erased
        too.
      schema: { type: string, minLength: 1, maxLength: 512 }
    IfNoneMatch:
      name: If-None-Match
      in: header
      description: Entity tags held by the client, or `*`. Compared weakly; it goes before `If-Modified-Since`.
      schema: { type: string }
    IfModifiedSince:
      name: If-Modified-Since
      in: header
      description: >-
        For clients without entity tags: the `Last-Modified` they hold.
      schema: { type: string }
    Range:
      name: Range
      in: header
      description: The bytes that are wanted (RFC 9110 section 14.2).
      schema: { type: string }
      example: bytes=1048576-
    IfRange:
      name: If-Range
      in: header
      description: >-
        The `ETag` or `Last-Modified` of the file that the range is to be a part of.
      schema: { type: string }
    IfMatch:
      name: If-Match
      in: header
      description: The revision that the change was made for, as the entity tag of the last answer.
      example: '"r7"'
      schema: { type: string }
    IfNoneMatchAny:
      name: If-None-Match
      in: header
      description: >-
        `*` makes a new item and fails with 412 where there is one. Anything else is a 400.
      schema: { type: string, pattern: '^\*$' }

  headers:
    AllowOrigin:
      description: Any origin may read.
      required: true
      schema: { type: string, const: "*" }
    ExposeHeaders:
      description: What scripts of other origins may see.
      required: true
      schema: { type: string, const: "*" }
    ErrorAllowOrigin:
      description: >-
        On public paths: any origin may read.
      schema: { type: string, const: "*" }
    ErrorExposeHeaders:
      description: On public paths.
      schema: { type: string, const: "*" }
    Vary:
      description: Answers from 1 KiB are compressed where the client accepts it.
      required: true
      schema: { type: string, const: Accept-Encoding }
    ErrorVary:
      description: On public paths.
      schema: { type: string, const: Accept-Encoding }
    ContentEncoding:
      description: Of compressed answers; their entity tag has a suffix of its own.
      schema: { type: string, const: gzip }
    PublicCacheControl:
      description: >-
        Clients always ask; shared caches keep the answer for `s-maxage` seconds and may be `stale-while-
        revalidate` seconds behind, 10 s together.
      required: true
      schema: { type: string, pattern: "^max-age=0, s-maxage=[1-9][0-9]*, stale-while-revalidate=[0-9]+, stale-if-error=[0-9]+$" }
      example: "max-age=0, s-maxage=1, stale-while-revalidate=9, stale-if-error=300"
    CacheStatus:
      description: |
        Of an answer from before a change, given while the database does not answer: `ttl` is since how many seconds it is
        not known to be right, below zero (RFC 9211). Absent otherwise.
      schema: { type: string, pattern: "^Tidings; hit; ttl=-[1-9][0-9]*$" }
    ChangesCacheControl:
      description: As for other public answers, and `no-store` where the request said to wait.
      required: true
      schema: { type: string, pattern: "^(max-age=0, s-maxage=[1-9][0-9]*, stale-while-revalidate=[0-9]+, stale-if-error=[0-9]+|no-store)$" }
      example: "max-age=0, s-maxage=1, stale-while-revalidate=9, stale-if-error=300"
    BriefCacheControl:
      description: Stored for a second, so that it takes the place of an older 200 in shared caches.
      required: true
      schema: { type: string, const: "max-age=0, s-maxage=1" }
    GoneCacheControl:
      description: As for other answers that take the place of a 200, and `no-store` where the request said to wait.
      required: true
      schema: { type: string, enum: ["max-age=0, s-maxage=1", no-store] }
      example: "max-age=0, s-maxage=1"
    NoStore:
      description: Not to be kept.
      required: true
      schema: { type: string, const: no-store }
    PrivateNoStore:
      description: Not to be kept, least of all for others.
      required: true
      schema: { type: string, const: "private, no-store" }
    FileCacheControl:
      description: >-
        The content never changes, so a client keeps it for an hour. Shared caches ask as often as for other public
        answers, because a file can be taken down; the usual answer is a 304.
      required: true
      schema: { type: string, pattern: "^max-age=3600, s-maxage=[1-9][0-9]*, stale-while-revalidate=[0-9]+, stale-if-error=[0-9]+$" }
      example: "max-age=3600, s-maxage=1, stale-while-revalidate=9, stale-if-error=300"
    AcceptRanges:
      description: Parts can be had.
      required: true
      schema: { type: string, const: bytes }
    ContentRange:
      description: Which part of how many bytes it is.
      required: true
      schema: { type: string, pattern: "^bytes [0-9]+-[0-9]+/[0-9]+$" }
      example: bytes 1048576-2097151/2097152
    UnsatisfiedRange:
      description: How many bytes the file has.
      required: true
      schema: { type: string, pattern: "^bytes \\*/[0-9]+$" }
      example: bytes */2097152
    Disposition:
      description: To be shown where it is, and the name to save it by (RFC 6266).
      required: true
      schema: { type: string, pattern: "^inline(; filename=\"[^\"]*\"(; filename\\*=UTF-8''[^;]+)?)?$" }
      example: inline; filename="ferry.jpg"
    NoSniff:
      description: The type is what `Content-Type` says.
      required: true
      schema: { type: string, const: nosniff }
    ReprDigest:
      description: SHA-256 of the whole file (RFC 9530), also with a part.
      required: true
      schema: { type: string, pattern: "^sha-256=:[A-Za-z0-9+/]{43}=:$" }
      example: "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
    Uploaded:
      description: When the file was first stored.
      required: true
      schema: { type: string, pattern: "^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$" }
      example: "Sat, 14 Nov 2026 06:30:00 GMT"
    MediaLocation:
      description: Where it is for everybody.
      required: true
      schema: { type: string, pattern: "^/v1/media/[0-9a-f-]{36}$" }
      example: /v1/media/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
    ETag:
      description: >-
        Strong, made of the content and its `Link` alone: equal on every replica and after a restart. At most 60
        bytes.
      required: true
      schema: { type: string, maxLength: 60, pattern: '^"[!#-~]+"$' }
      example: '"2f1d6a90c7b84e33"'
    RevisionETag:
      description: >-
        The revision: what `If-Match` takes.
      required: true
      schema: { type: string, pattern: '^"r[1-9][0-9]*"$' }
      example: '"r7"'
    OptionalRevisionETag:
      description: The revision after the write.
      schema: { type: string, pattern: '^"r[1-9][0-9]*"$' }
    LastModified:
      description: When the answer last changed; left out until the second it names is over. Of a file, which never changes, it is sent
        at once.
      schema: { type: string, pattern: "^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$" }
      example: "Sat, 14 Nov 2026 06:30:00 GMT"
    SyncToken:
      description: The current token of the scope, as `since` takes it; never newer than the body.
      required: true
      schema: { $ref: "#/components/schemas/SyncToken" }
    OptionalSyncToken:
      description: The current token of the scope; never newer than the body.
      schema: { $ref: "#/components/schemas/SyncToken" }
    Link:
      description: The next page, where there is one (RFC 8288); the address is relative.
      schema: { type: string, pattern: '^</v1/[^>]+>; rel="next"$' }
      example: '</v1/items?cursor=Zm9sbG93&limit=50>; rel="next"'
    PollInterval:
      description: >-
        After how many seconds it is worth asking again, from how often the feed changes at this time of the day and
        at present. Left out until that is known. To those who waited for changes it is given only when the server
        ends, other seconds to each, so that they do not come again all at once.
      schema: { type: integer, minimum: 1, maximum: 3600 }
    WaitRequestID:
      description: As for other answers that are not stored; only where the request said to wait.
      schema: { type: string, minLength: 1, maxLength: 128 }
    RequestID:
      description: Names the request in the logs of the server.
      required: true
      schema: { type: string, minLength: 1, maxLength: 128 }
    RetryAfter:
      description: Seconds to wait.
      required: true
      schema: { type: string, pattern: "^[0-9]+$" }
      example: "1"
    Location:
      description: Where it is now.
      required: true
      schema: { type: string, pattern: "^/v1/editorial/" }
      example: /v1/editorial/items/01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6
    Authenticate:
      description: >-
        The scheme, and what is wrong with the key (RFC 6750): `invalid_token`, or `insufficient_scope` with the
        scope that is needed.
      required: true
      schema: { type: string, pattern: "^Bearer" }
      example: 'Bearer realm="tidings", error="insufficient_scope", scope="items:write"'
    Allow:
      description: The methods there are.
      required: true
      schema: { type: string }
      example: "GET, HEAD, OPTIONS"
    Accept:
      description: The media type to send, where another came.
      schema:
        type: string
        enum:
          - application/json
          - application/merge-patch+json, application/json
          - image/jpeg, image/png, image/gif, image/webp, image/avif, image/heic, image/heif, application/pdf, video/mp4, audio/mp4, video/quicktime, video/webm, audio/webm, audio/ogg, video/ogg, audio/mpeg, audio/aac, audio/flac, audio/wav, application/octet-stream
      example: application/json
    AcceptEncoding:
      description: The content coding to send, where another came.
      schema: { type: string, const: identity }
    AllowMethods:
      description: The methods other origins may use.
      required: true
      schema: { type: string }
      example: "GET, HEAD, OPTIONS"
    AllowHeaders:
      description: The request headers other origins may send.
      schema: { type: string }
    MaxAge:
      description: Seconds for which the answer holds.
      schema: { type: string, pattern: "^[0-9]+$" }
      example: "86400"

  requestBodies:
    NewMedia:
      description: The bytes of the file, under `application/octet-stream` or the type that they have.
      required: true
      content:
        application/octet-stream:
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
      description: As GET, without the body.
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
        Nothing new: the client holds this representation.
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
      description: As GET, without the body.
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
        Nothing new: the client holds this representation.
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
      description: Changes in the order of versions; an empty list where nothing is new.
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
      description: As GET, without the body.
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
        Nothing new: the client holds this representation.
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
      description: The tokens.
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
      description: As GET, without the body.
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
        Nothing new: the client holds this representation.
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
      description: Events, until one of both ends it.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Accel-Buffering:
          description: Tells nginx to pass on each event at once.
          required: true
          schema: { type: string, const: "no" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        text/event-stream:
          schema: { description: "Events, each with a ChangeEvent as its data." }
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
      description: As GET, without the body.
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
        Nothing new: the client holds this representation.
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
      description: As GET, without the body.
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
        Nothing new: the client holds this representation.
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
    Contract:
      description: OpenAPI 3.1.
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
      description: As GET, without the body.
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
        Nothing new: the client holds this representation.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/PublicCacheControl" }
        Content-Encoding: { $ref: "#/components/headers/ContentEncoding" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/LastModified" }
        Vary: { $ref: "#/components/headers/Vary" }
    Preflight:
      description: Any origin may read, with any of the headers that matter here.
      headers:
        Access-Control-Allow-Headers: { $ref: "#/components/headers/AllowHeaders" }
        Access-Control-Allow-Methods: { $ref: "#/components/headers/AllowMethods" }
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Access-Control-Max-Age: { $ref: "#/components/headers/MaxAge" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
    Health:
      description: It runs.
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
      description: Send it requests.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Readiness" }
          example:
            status: ready
    HealthHead:
      description: As GET, without the body.
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
      description: As GET, without the body.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
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
      description: The item as it is now.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
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
      description: Made.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
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
      description: It was there already with this content.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
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
      description: The client holds this revision.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    Retracted:
      description: Retracted; followers have been told.
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
    EditorialTopic:
      description: The topic as it is now.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
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
      description: Made.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        ETag: { $ref: "#/components/headers/RevisionETag" }
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
      description: As GET, without the body.
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
      description: The client holds this file.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/FileCacheControl" }
        ETag: { $ref: "#/components/headers/ETag" }
        Last-Modified: { $ref: "#/components/headers/Uploaded" }
    MediaStored:
      description: Stored; it would survive a crash.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Location: { $ref: "#/components/headers/MediaLocation" }
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
    MediaKept:
      description: It was there already.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        Location: { $ref: "#/components/headers/MediaLocation" }
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
      description: As GET, without the body.
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
    NotRetracted:
      description: The item is not retracted.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
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
      description: Done, or done before.
      headers:
        Cache-Control: { $ref: "#/components/headers/PrivateNoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    MediaNotKept:
      description: This server keeps no files.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/media-not-kept
            title: Files are not kept here
            status: 501
    StorageFull:
      description: There is no room for the file; nothing of it has been kept.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/storage-full
            title: There is no room for the file
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
      description: The message, its query or its body cannot be read; nothing has happened.
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
                title: Invalid query parameter
                status: 400
                errors:
                  - { field: limit, rule: must be a number from 1 to 200 }
            body:
              value:
                type: /problems/malformed-body
                title: The body is not valid JSON
                status: 400
            message:
              value:
                type: /problems/malformed-request
                title: The request is not proper HTTP
                status: 400
                detail: There is no Host.
    BadRequestHead:
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    Unauthorized:
      description: A valid key is needed.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        WWW-Authenticate: { $ref: "#/components/headers/Authenticate" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/unauthorized
            title: A valid key is needed
            status: 401
    Forbidden:
      description: The key lacks the scope.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        WWW-Authenticate: { $ref: "#/components/headers/Authenticate" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/forbidden
            title: The key lacks a scope
            status: 403
            detail: items:write is needed
    NotFound:
      description: There is nothing of that name, or not for readers.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-found
            title: Not found
            status: 404
    NotFoundHead:
      description: As GET, without the body.
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
            title: Not found
            status: 404
    EditorialNotFound:
      description: There is nothing of that name.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/not-found
            title: Not found
            status: 404
    MethodNotAllowed:
      description: The resource has other methods.
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
            title: Method not allowed
            status: 405
    Conflict:
      description: The id or slug is taken by something else.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/conflict
            title: Already taken
            status: 409
            detail: another item has this id
    TokenExpired:
      description: >-
        The token cannot be continued. A client with a full copy takes the snapshot, one with a window the newest
        items `at` the token given here; both replace what they held.
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
            title: The token is no longer good
            status: 410
            reason: epoch
            token: 1p8r2c50m1xe.4q
    TokenExpiredHead:
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/GoneCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/WaitRequestID" }
    ItemGone:
      description: The item was taken back or has expired; or the token of `at` cannot be continued.
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
                title: Retracted
                status: 410
                detail: The sailing was cancelled before publication.
                reason: retracted
            tokenExpired:
              value:
                type: /problems/token-expired
                title: The token is no longer good
                status: 410
                reason: epoch
                token: 1p8r2c50m1xe.4q
    ItemGoneHead:
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/AllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/BriefCacheControl" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
    EditorialGone:
      description: >-
        Retraction is final: the item takes no more writes.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/retracted
            title: Retracted
            status: 410
            detail: The sailing was cancelled before publication.
            reason: retracted
    PreconditionFailed:
      description: A condition of the request does not hold; nothing has happened.
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
            title: The precondition does not hold
            status: 412
            detail: the current revision is 8
    PreconditionFailedHead:
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    BodyTooLarge:
      description: The body has more than 1 MiB, or, if it is a file, than the server is set to take.
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
    UnsupportedMediaType:
      description: The body is of another type than the resource reads, or has a content coding.
      headers:
        Accept: { $ref: "#/components/headers/Accept" }
        Accept-Encoding: { $ref: "#/components/headers/AcceptEncoding" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/unsupported-media-type
            title: Unsupported media type
            status: 415
    InvalidField:
      description: Fields of the body break rules; all of them are named.
      headers:
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
      content:
        application/problem+json:
          schema: { $ref: "#/components/schemas/Problem" }
          example:
            type: /problems/invalid-field
            title: Invalid fields
            status: 422
            errors:
              - { field: date, rule: must not be in the future }
              - { field: "attachments[0].url", rule: must be an http or https address }
    PreconditionRequired:
      description: The change names no revision.
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
      description: The header fields have more than 16 KiB.
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
            title: The header fields are too large
            status: 431
    HeadersTooLargeHead:
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    RequestTimeout:
      description: The request did not arrive in time; the connection closes.
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
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    TooManyRequests:
      description: >-
        More requests than the server takes from one address, with which the connection closes, or with one key; see
        `Retry-After`. One that is answered with 304 counts for a tenth.
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
            title: There have been too many requests
            status: 429
            detail: Wait for 7 s.
    TooManyRequestsHead:
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/RetryAfter" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    ExpectationFailed:
      description: >-
        `Expect` asks for something else than `100-continue`; the connection closes.
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
            title: The only expectation that is met here is 100-continue
            status: 417
    ExpectationFailedHead:
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    InternalError:
      description: A fault of the server; its log has more under the request id.
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
            title: Internal error
            status: 500
    InternalErrorHead:
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }
    NotImplemented:
      description: The server cannot do this for any resource; the connection closes.
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
      description: Another version of HTTP; the connection closes.
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
            title: The server speaks HTTP/1.1 and HTTP/1.0
            status: 505
    Unavailable:
      description: Not now; see `Retry-After`.
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
                title: Temporarily unavailable
                status: 503
            notReachedYet:
              value:
                type: /problems/not-reached-yet
                title: This version is not here yet
                status: 503
            searchTooBroad:
              value:
                type: /problems/search-too-broad
                title: The search takes too long
                status: 503
            outcomeUnknown:
              value:
                type: /problems/outcome-unknown
                title: The outcome of the write is unknown
                status: 503
                detail: repeat the request with the same id
    UnavailableHead:
      description: As GET, without the body.
      headers:
        Access-Control-Allow-Origin: { $ref: "#/components/headers/ErrorAllowOrigin" }
        Access-Control-Expose-Headers: { $ref: "#/components/headers/ErrorExposeHeaders" }
        Cache-Control: { $ref: "#/components/headers/NoStore" }
        Retry-After: { $ref: "#/components/headers/RetryAfter" }
        Vary: { $ref: "#/components/headers/ErrorVary" }
        X-Request-Id: { $ref: "#/components/headers/RequestID" }

  schemas:
    SyncToken:
      description: Opaque. Equal tokens of one scope mean that nothing is new.
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
      description: BCP 47, at most 35 bytes.
      type: string
      minLength: 2
      maxLength: 35
      pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"

    Date:
      description: RFC 3339 in UTC with three fraction digits.
      type: string
      format: date-time
      pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"

    State:
      type: string
      enum: [draft, scheduled, published, retracted, expired]

    Attachment:
      description: A file that belongs to an item.
      type: object
      additionalProperties: false
      required: [url, type]
      properties:
        url:
          description: Absolute, or a path on this server.
          type: string
          pattern: "^(https?://|/v1/media/[0-9a-f-]{36}$)"
          maxLength: 2048
        type: { type: string, description: A media type., example: image/jpeg }
        bytes: { type: integer, minimum: 0 }
        width: { type: integer, minimum: 1, description: In pixels. }
        height: { type: integer, minimum: 1, description: In pixels. }
        alt: { type: string, description: "What it shows, for those who cannot see it." }
        sha256: { type: string, pattern: "^[0-9a-f]{64}$" }

    StoredFile:
      description: A file that was uploaded, as an attachment to put into items.
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

    AttachmentInput:
      description: A file that belongs to an item, as it is written. `alt` has at most 1024 bytes.
      type: object
      additionalProperties: false
      required: [url, type]
      properties:
        url:
          description: Absolute; or the path of a file that was uploaded here, which must be there.
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
        sha256: { type: string, pattern: "^[0-9a-f]{64}$" }

    Item:
      description: A published news item. Lengths are bytes of UTF-8.
      type: object
      additionalProperties: false
      required: [id, version, date, text, topics, breaking, attachments, updated]
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        version: { type: integer, minimum: 1, description: The version of the feed in which it last changed. }
        date: { $ref: "#/components/schemas/Date" }
        text: { type: string, minLength: 1, maxLength: 262144 }
        title: { type: string, maxLength: 1024 }
        summary: { type: string, maxLength: 16384 }
        html: { type: string, maxLength: 524288, description: "Sanitised; only with `include=html`." }
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
          description: When it last changed for readers; only grows.
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
      description: The item as it is now replaces the one with its id, or is new.
      type: object
      additionalProperties: false
      required: [op, item]
      properties:
        op: { type: string, const: put }
        item: { $ref: "#/components/schemas/Item" }

    Remove:
      description: The item is no longer in the scope; `left` says that it is published still, in other topics.
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
            Items that were changed, the newest change first; one that has left the scope is among them. Empty where
            there were too many to remember.
          items: { type: string, format: uuid }
        token: { $ref: "#/components/schemas/SyncToken" }
        topics:
          type: array
          description: Topics in which something was changed, sorted.
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
        more: { type: boolean, description: Whether more is to be had at once with `token`. }
        snapshot: { type: boolean, const: true, description: Only in the pages of a snapshot. }
        token: { $ref: "#/components/schemas/SyncToken" }

    FeedState:
      type: object
      additionalProperties: false
      required: [feed, topics]
      properties:
        feed: { $ref: "#/components/schemas/SyncToken" }
        topics:
          description: By slug; empty where none was asked for.
          type: object
          additionalProperties: { $ref: "#/components/schemas/SyncToken" }
        union:
          description: The token of `/v1/changes` for these topics together; left out where none was asked for.
          $ref: "#/components/schemas/SyncToken"

    Titles:
      description: By BCP 47 language tag.
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
        items: { type: integer, minimum: 0, description: How many published items are in it. }
        changed:
          description: When an item of it, or the topic itself, last changed.
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
        An item as its editors see it. `version` is 0, and `updated` the creation date, while it was never published.
      type: object
      additionalProperties: false
      required: [id, version, date, text, topics, breaking, attachments, updated, state, revision]
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        version: { type: integer, minimum: 0 }
        date: { $ref: "#/components/schemas/Date" }
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
        revision: { type: integer, minimum: 1, description: Counts the writes; the lock. }
        retractionReason: { type: string, maxLength: 512 }
        erased:
          description: When its texts were erased; `text` is empty then. Absent while it has them.
          $ref: "#/components/schemas/Date"

    EditorialItemList:
      type: object
      additionalProperties: false
      required: [items]
      properties:
        items:
          type: array
          maxItems: 200
          items: { $ref: "#/components/schemas/EditorialItem" }

    ItemInput:
      description: >-
        An item to be made or replaced. Lengths are bytes of UTF-8; texts are not blank and have no control characters
        but tabs and line ends; no field is null. What an answer has beyond this may be sent back and is ignored:
        `version`, `updated`, `retractionReason`, `erased`. Any other field is a 422.
      type: object
      additionalProperties: false
      required: [date, text]
      properties:
        id:
          description: POST takes one of the client's choosing; in PUT it is that of the path.
          $ref: "#/components/schemas/ItemID"
        revision:
          description: "PUT: the lock, in place of `If-Match`."
          type: integer
          format: int64
          minimum: 1
          maximum: 9223372036854775807
        state:
          description: "`scheduled` is not possible yet."
          type: string
          enum: [draft, published]
          default: published
        date: { type: string, format: date-time, description: Not more than 60 s in the future; kept in milliseconds. }
        text: { type: string, minLength: 1, maxLength: 262144 }
        title: { type: string, minLength: 1, maxLength: 1024 }
        summary: { type: string, minLength: 1, maxLength: 16384 }
        html: { type: string, minLength: 1, maxLength: 524288, description: Sanitised on the way in. }
        topics:
          description: Slugs of topics that exist.
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
        version: { description: Ignored. }
        updated: { description: Ignored. }
        retractionReason: { description: Ignored. }
        erased: { description: Ignored. }

    ItemPatch:
      description: The fields to change; null removes an optional one.
      type: object
      additionalProperties: false
      properties:
        id: { $ref: "#/components/schemas/ItemID" }
        revision:
          description: The lock, in place of `If-Match`.
          type: integer
          format: int64
          minimum: 1
          maximum: 9223372036854775807
        state: { type: string, enum: [draft, published] }
        date: { type: string, format: date-time }
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
        revision: { type: integer, minimum: 1, description: Counts the writes; the lock. }

    EditorialTopicList:
      type: object
      additionalProperties: false
      required: [topics]
      properties:
        topics:
          type: array
          items: { $ref: "#/components/schemas/EditorialTopic" }

    TopicInput:
      description: POST needs the slug; in PUT it is that of the path and may be left out.
      type: object
      additionalProperties: false
      properties:
        slug: { $ref: "#/components/schemas/Slug" }
        revision:
          description: "PUT: the lock, in place of `If-Match`."
          type: integer
          format: int64
          minimum: 1
          maximum: 9223372036854775807
        titles:
          description: By BCP 47 language tag. Lengths are bytes of UTF-8.
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

    FieldError:
      type: object
      additionalProperties: false
      required: [field, rule]
      properties:
        field: { type: string, description: "The query parameter, or the path of the field: `attachments[0].url`." }
        rule: { type: string, description: "The rule it breaks, without its subject: `must be a number from 1 to 200`." }

    Problem:
      description: Problem details (RFC 9457) with the members of this API.
      type: object
      additionalProperties: false
      required: [type, title, status]
      properties:
        type:
          description: Stable; see the table at the top.
          type: string
          enum:
            - /problems/invalid-parameter
            - /problems/malformed-request
            - /problems/malformed-body
            - /problems/idempotency-key-unsupported
            - /problems/unauthorized
            - /problems/forbidden
            - /problems/not-found
            - /problems/method-not-allowed
            - /problems/request-timeout
            - /problems/conflict
            - /problems/media-in-use
            - /problems/not-retracted
            - /problems/retracted
            - /problems/withdrawn
            - /problems/token-expired
            - /problems/precondition-failed
            - /problems/body-too-large
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
            - /problems/unavailable
            - /problems/not-reached-yet
            - /problems/search-too-broad
            - /problems/outcome-unknown
            - /problems/version-not-supported
            - /problems/storage-full
        title: { type: string }
        status: { type: integer, minimum: 400, maximum: 599 }
        detail: { type: string }
        errors:
          description: >-
            The parameters or fields at fault. The first 32 are named; an element with the field `*` then says how many
            more there are.
          type: array
          minItems: 1
          maxItems: 33
          items: { $ref: "#/components/schemas/FieldError" }
        reason:
          description: Why an item, a file or a token is no longer good.
          type: string
          enum: [retracted, expired, removed, epoch, scope, ahead]
        token:
          description: A current token to start from.
          $ref: "#/components/schemas/SyncToken"

"""#
