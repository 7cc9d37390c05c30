import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/websub/{token}`: the requests of WebSub hubs whose feeds the server follows.
struct HubCallbackHandlers: Sendable {
  /// The maximum size of a notice, in bytes.
  private static let largest = 16 << 20

  let store: NewsStore

  /// Verifies the intent of a hub, or records its denial.
  @Sendable func verify(_ request: Request, context: APIContext) async throws -> Response {
    guard let token = Self.token(context), let query = HubQuery(request.uri.query) else { throw ProblemError.notFound }
    let isKnown: Bool
    var answer = ""
    switch query.purpose {
    case .denial(let reason):
      isKnown = try await store.denyHubLease(token, topic: query.topic, reason: Self.message(reason))
    case .verification(let mode, let challenge, let seconds):
      answer = challenge
      isKnown = try await store.confirmHubLease(token, mode, topic: query.topic, seconds: seconds)
    }
    guard isKnown else { throw ProblemError.notFound }
    // The text is the hub's: a browser must not take it for a page.
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/plain", .xContentTypeOptions: "nosniff", .cacheControl: CachePolicy.notStored,
      ],
      body: ResponseBody(byteBuffer: ByteBuffer(string: answer)))
  }

  /// Receives a notice. Its body is only compared with its signature: the feed itself is polled.
  @Sendable func receive(_ request: Request, context: APIContext) async throws -> Response {
    guard let token = Self.token(context),
      let secret = try await store.hubSecret(token)
    else { throw ProblemError.callbackEnded }
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > Self.largest {
      throw ProblemError.bodyTooLarge(Self.largest)
    }
    context.awaitBody()
    var signature = request.headers[.hubSignature].flatMap { NoticeSignature($0, secret: secret) }
    var length = 0
    do {
      for try await part in request.body {
        length += part.readableBytes
        guard length <= Self.largest else { throw ProblemError.bodyTooLarge(Self.largest) }
        signature?.update(Array(part.readableBytesView))
      }
    } catch {
      throw ProblemError(bodyError: error)
    }
    try await context.requireWholeBody()
    let isValid = signature?.isValid ?? false
    store.hubActivity.noteNotice(isValid: isValid)
    // A hub learns nothing from the response: a signature is not guessed by trying (section 7.1).
    if isValid { try await store.noteHubNotice(token) }
    return Response(status: .noContent, headers: [.cacheControl: CachePolicy.notStored])
  }

  /// Returns the token in the path; nil if none can be like it.
  private static func token(_ context: APIContext) -> String? {
    context.parameters.get("token").flatMap { token in
      token.utf8.count == 22
        && token.utf8.allSatisfy {
          $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        } ? token : nil
    }
  }

  private static func message(_ reason: String) -> String {
    let reason = reason.terminalSafe
    return "the hub has denied the lease" + (reason.isEmpty ? "" : ": \(reason)")
  }
}

extension ProblemError {
  /// A hub may end a lease whose callback is gone (WebSub section 7).
  fileprivate static let callbackEnded = ProblemError(
    .gone, "callback-ended", "The callback has ended",
    detail: "The server has no lease at a hub with this callback.")
}
