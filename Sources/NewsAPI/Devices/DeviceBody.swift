import HTTPEdge
import News
import NewsStore

/// The body of a device's registration.
///
/// It has the types of the fields, and the rules that depend on the push services of the server. The store has the others.
struct DeviceBody {
  let registration: DeviceRegistration

  /// Reads a body.
  ///
  /// - Throws: `ProblemError`, 422, which names the invalid fields.
  init(_ fields: [String: JSONValue], _ push: NewsAPI.PushSettings) throws {
    var reader = FieldReader(fields)
    let offered = push.offer.providers
    let rule = offered.isEmpty ? "cannot be chosen: the server has no push service" : "must be \(Self.list(offered))"
    let provider: PushProvider? = reader.choice("provider", rule: "\(rule)")
    if let provider, !offered.contains(provider) { reader.refuse("provider", "\(rule)") }
    if fields["provider"] == nil { reader.refuse("provider", "is required") }
    let kind: DeviceKind? = reader.choice("kind", rule: "must be \(Self.list(DeviceKind.allCases))")
    registration = DeviceRegistration(
      provider: provider ?? .apns, kind: kind ?? .app,
      token: reader.text("token", maximumBytes: 4096),
      subscription: reader.subscription(push),
      app: reader.text("app", maximumBytes: 255),
      environment: reader.choice("environment", rule: "must be \(Self.list(PushEnvironment.allCases))"),
      topics: reader.strings("topics"),
      languages: reader.strings("languages"),
      alerts: reader.bool("alerts") ?? false,
      timeZone: reader.text("timeZone", maximumBytes: 64),
      quiet: reader.quietHours())
    reader.finish()
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
  }

  private static func list(_ values: [some RawRepresentable<String>]) -> String {
    let names = values.map(\.rawValue)
    guard names.count > 1, let last = names.last else { return names.joined() }
    return "\(names.dropLast().joined(separator: ", ")) or \(last)"
  }
}

extension DeviceReport {
  /// Reads the body of a report.
  ///
  /// - Throws: `ProblemError`, 422, which names the invalid fields.
  init(_ fields: [String: JSONValue]) throws {
    var reader = FieldReader(fields)
    let token = reader.value("token", rule: "must be a sync token") {
      if case .string(let text) = $0 { SyncToken(text) } else { nil }
    }
    if fields["token"] == nil { reader.refuse("token", "is required") }
    let push = reader.id("push")
    let result: Result? = reader.choice("result", rule: "must be newData, noData or failed")
    reader.finish()
    guard reader.errors.isEmpty, let token else { throw ProblemError.invalidFields(reader.errors.list) }
    self.init(token: token, push: push, result: result)
  }
}

extension FieldReader {
  /// Reads an array of strings, whose number the store limits.
  fileprivate mutating func strings(_ name: String) -> [String]? {
    value(name, rule: "must be an array of strings", \.strings)
  }

  /// Reads the subscription of Web Push in the form of `PushSubscription.toJSON()` (W3C Push API).
  fileprivate mutating func subscription(_ push: NewsAPI.PushSettings) -> WebPushSubscription? {
    guard let fields = object("subscription") else { return nil }
    var reader = FieldReader(fields, prefix: "subscription.")
    reader.ignore("expirationTime")
    let endpoint = reader.text("endpoint", maximumBytes: 2048, isRequired: true)
    if let endpoint, !push.allowsEndpoint(endpoint) {
      reader.refuse("endpoint", "must be the address of a push service that this server sends to")
    }
    var keys = WebPushSubscription.Keys(p256dh: "", auth: "")
    if let values = reader.object("keys") {
      var inner = FieldReader(values, prefix: "subscription.keys.")
      keys.p256dh = inner.text("p256dh", maximumBytes: 256, isRequired: true) ?? ""
      keys.auth = inner.text("auth", maximumBytes: 256, isRequired: true) ?? ""
      inner.finish()
      reader.add(inner.errors)
    } else if fields["keys"] == nil {
      reader.refuse("keys", "is required")
    }
    reader.finish()
    add(reader.errors)
    return WebPushSubscription(endpoint: endpoint ?? "", keys: keys)
  }

  /// Reads quiet hours such as `{"from":"22:00","to":"07:00"}`.
  fileprivate mutating func quietHours() -> QuietHours? {
    guard let fields = object("quiet") else { return nil }
    var reader = FieldReader(fields, prefix: "quiet.")
    let times = ["from", "to"].map { name in
      if fields[name] == nil { reader.refuse(name, "is required") }
      return reader.value(name, rule: "must be a time of the day such as 22:00") {
        if case .string(let text) = $0 { QuietHours.minute(text) } else { nil }
      }
    }
    reader.finish()
    add(reader.errors)
    guard let from = times[0], let to = times[1] else { return nil }
    return QuietHours(from: from, to: to)
  }
}
