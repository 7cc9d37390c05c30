import Foundation
import NIOHTTP1

/// The rules of FCM HTTP v1 for requests.
///
/// Source: "REST Resource: projects.messages", "Send messages using the FCM HTTP v1 API".
struct FCMRules: MockService {
  /// The maximum size of `data` in bytes.
  private static let largestData = 4096
  private static let messageFields: Set = [
    "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "token", "topic", "condition",
  ]
  private static let androidFields: Set = [
    "collapse_key", "priority", "ttl", "restricted_package_name", "data", "notification", "fcm_options",
    "direct_boot_ok",
  ]

  let protocols: [String]
  let maximumStreams = 100

  let projectID: String
  let tokens: FCMAccessTokens
  /// The path of the token service.
  let tokenPath: String
  let isLight: Bool
  let clock: @Sendable () -> Date

  /// A rule that a message breaks.
  private struct Violation: Error {
    var error: FCMError
    var rule: String

    init(_ field: String, _ rule: String) {
      error = .badRequest(field)
      self.rule = "\(field) \(rule)"
    }
  }

  func judgement(of request: MockRequest) -> MockJudgement {
    if request.path == tokenPath {
      // The audience is the address that the client has used.
      return tokens.judgement(of: request, audience: "https://\(request.field("host") ?? "")\(tokenPath)")
    }
    guard request.path == "/v1/projects/\(projectID)/messages:send", request.method == .POST else {
      return .refused(rule: "the path is not that of messages:send", FCMError.notFound.response)
    }
    guard let authorization = request.field("authorization"), authorization.hasPrefix("Bearer "),
      tokens.accepts(String(authorization.dropFirst(7)))
    else { return .refused(rule: "the access token is not valid", FCMError.unauthenticated.response) }
    do throws(Violation) {
      let message = try message(request)
      return .accepted(message, .json(#"{"name":"projects/\#(projectID)/messages/\#(UUID().uuidString)"}"#))
    } catch {
      return .refused(rule: error.rule, error.error.response)
    }
  }

  private func message(_ request: MockRequest) throws(Violation) -> ReceivedMessage {
    guard request.field("content-type")?.hasPrefix("application/json") == true,
      let body = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any],
      let message = body["message"] as? [String: Any], Set(body.keys).isSubset(of: ["message", "validate_only"])
    else { throw Violation("message", "is missing, or the body is not JSON") }
    if let unknown = message.keys.first(where: { !Self.messageFields.contains($0) }) {
      throw Violation("message.\(unknown)", "is unknown")
    }
    guard let token = message["token"] as? String, !token.isEmpty, message["topic"] == nil,
      message["condition"] == nil
    else { throw Violation("message.token", "is not the only recipient") }
    let data = try Self.data(message["data"] ?? [:], in: "message.data")
    let android = try Self.android(message["android"])
    let payload = isLight ? Data() : (try? JSONSerialization.data(withJSONObject: data, options: .sortedKeys)) ?? Data()
    return ReceivedMessage(
      address: token, headers: isLight ? [:] : request.headers, payload: payload, options: android, time: clock(),
      connection: request.connection)
  }

  private static func data(_ value: Any, in path: String) throws(Violation) -> [String: String] {
    guard let fields = value as? [String: Any] else { throw Violation(path, "is not an object") }
    var data: [String: String] = [:]
    for (key, value) in fields {
      guard let text = value as? String else { throw Violation("\(path).\(key)", "is not a string") }
      guard key != "from", key != "message_type", !key.hasPrefix("google"), !key.hasPrefix("gcm") else {
        throw Violation("\(path).\(key)", "is reserved")
      }
      data[key] = text
    }
    let size = data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    if size > largestData { throw Violation(path, "has more than \(largestData) bytes") }
    return data
  }

  /// - Returns: The options of `android` that are texts.
  private static func android(_ value: Any?) throws(Violation) -> [String: String] {
    guard let fields = value as? [String: Any] else { throw Violation("message.android", "is missing") }
    if let unknown = fields.keys.first(where: { !androidFields.contains($0) }) {
      throw Violation("message.android.\(unknown)", "is unknown")
    }
    // Either spelling is an enum value of protobuf JSON that FCM documents.
    guard let priority = fields["priority"] as? String, ["NORMAL", "HIGH", "normal", "high"].contains(priority) else {
      throw Violation("message.android.priority", "is neither NORMAL nor HIGH")
    }
    if let ttl = fields["ttl"] {
      // At most four weeks, in seconds with the suffix "s".
      guard let text = ttl as? String, text.hasSuffix("s"), let seconds = Double(text.dropLast()),
        0...2_419_200 ~= seconds
      else { throw Violation("message.android.ttl", "is not a duration") }
    }
    if let key = fields["collapse_key"], !(key is String) {
      throw Violation("message.android.collapse_key", "is not a string")
    }
    return fields.compactMapValues { $0 as? String }
  }
}
