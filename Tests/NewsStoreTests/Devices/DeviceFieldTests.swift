import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The limits of the fields of a registration.
@Suite struct DeviceFieldTests {
  private static func apns(token: String? = nil, app: String = "example.reader") -> DeviceRegistration {
    DeviceRegistration(provider: .apns, token: token ?? DeviceRegistration.apns().token, app: app)
  }

  private static func webPush(
    _ path: String = "0", auth: Int = 16, _ change: (inout DeviceRegistration) -> Void = { _ in }
  ) -> DeviceRegistration {
    var registration = DeviceRegistration.webPush()
    registration.subscription?.endpoint = "https://push.example/" + path
    registration.subscription?.keys.auth = String(base64URL: [UInt8](repeating: 1, count: auth))
    change(&registration)
    return registration
  }

  private static func fcm(
    _ token: String = "t", languages: [String]? = nil, topics: [String]? = nil, timeZone: String? = nil
  ) -> DeviceRegistration {
    DeviceRegistration(provider: .fcm, token: token, topics: topics, languages: languages, timeZone: timeZone)
  }

  /// A point on the curve in its compressed form, 33 bytes.
  private static let compressedKey: String = {
    let point = DeviceRegistration.point(1)
    let bytes: [UInt8] = [2 + (point[64] & 1)] + Array(point[1...32])
    return String(base64URL: bytes)
  }()

  private static let topics = (100...200).map { "topic-\($0)" }
  private static let languages = (100...120).map { "de-\($0)" }
  /// The number of bytes that an endpoint of 2,048 bytes has after its host.
  private static let pathBytes = 2048 - "https://push.example/".utf8.count

  /// Registrations whose fields are as long as they may be, or as short.
  private static let accepted: [DeviceRegistration] = [
    apns(token: String(repeating: "a", count: 16)), apns(token: String(repeating: "F", count: 400)),
    apns(app: "a"), apns(app: String(repeating: "Ab.c-d_1", count: 19) + "xyz"),
    fcm("!"), fcm("~" + String(repeating: "t", count: 2047)),
    fcm("languages", languages: ["DE-100"] + Array(languages.dropLast())),
    fcm("topics", topics: ["topic-100"] + Array(topics.dropLast())),
    webPush(String(repeating: "a", count: pathBytes)), DeviceRegistration.webPush(host: "push-1_a.example"),
  ]

  private static let refused: [(field: String, DeviceRegistration)] = [
    ("token", apns(token: String(repeating: "a", count: 14))),
    ("token", apns(token: String(repeating: "a", count: 402))),
    ("token", apns(token: String(repeating: "g", count: 64))),
    ("app", apns(app: "")), ("app", apns(app: String(repeating: "a", count: 156))), ("app", apns(app: "ä")),
    ("token", fcm("")), ("token", fcm(String(repeating: "t", count: 2049))), ("token", fcm("\u{7F}")),
    ("token", fcm("ä")),
    ("languages", fcm(languages: languages)), ("topics", fcm(topics: topics)),
    ("timeZone", fcm(timeZone: "localtime")), ("timeZone", fcm(timeZone: "Factory")),
    ("subscription.endpoint", webPush(String(repeating: "a", count: pathBytes + 1))),
    ("subscription.endpoint", webPush("a#b")), ("subscription.endpoint", webPush("ä")),
    ("subscription.endpoint", webPush("a b")), ("subscription.endpoint", webPush("a\u{7F}")),
    ("subscription.endpoint", DeviceRegistration.webPush(host: ".")),
    ("subscription.endpoint", DeviceRegistration.webPush(host: "push!.example")),
    ("kind", DeviceRegistration(provider: .fcm, kind: .unifiedpush, token: "t")),
    ("subscription.keys.auth", webPush(auth: 15)), ("subscription.keys.auth", webPush(auth: 17)),
    ("subscription.keys.p256dh", webPush { $0.subscription?.keys.p256dh = compressedKey }),
    ("token", webPush { $0.token = "t" }), ("app", webPush { $0.app = "example.reader" }),
    ("environment", webPush { $0.environment = .production }),
  ]

  @Test("Fields have the longest and the shortest values that are allowed, and none beyond")
  func limits() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query("INSERT INTO scopes (scope) SELECT unnest(\(Self.topics))")
      _ = try await sql.query("INSERT INTO topics (slug) SELECT unnest(\(Self.topics))")
      for registration in Self.accepted { try await store.register(registration) }
      #expect(try await sql.value("SELECT count(*) FROM devices") == Self.accepted.count)
      for (field, registration) in Self.refused {
        do {
          try await store.register(registration)
          Issue.record("\(field) was accepted: \(registration)")
        } catch StoreError.invalidFields(let errors) {
          #expect(errors.map(\.field) == [field], "\(registration)")
        }
      }
    }
  }

  @Test("Addresses of different services and apps are different, whatever their texts are")
  func texts() async throws {
    try await NewsDatabase.withStore { store, sql in
      let token = String(repeating: "a", count: 16)
      let registrations = [
        Self.webPush(), Self.fcm("https://push.example/0"), Self.apns(token: token, app: "xaa"),
        Self.apns(token: "aa" + token, app: "x"), Self.fcm("Token"), Self.fcm("token"),
      ]
      for registration in registrations { try await store.register(registration) }
      #expect(try await sql.value("SELECT count(*) FROM devices") == registrations.count)
    }
  }

  @Test("Dot segments at the end of an endpoint are resolved too")
  func dotSegments() async throws {
    try await NewsDatabase.withStore { store, _ in
      let folder = try await store.register(Self.webPush("q/")).id
      for path in ["q/.", "q/r/..", "q/r/../", "q/r/.././."] {
        #expect(try await store.register(Self.webPush(path)).id == folder, "\(path)")
      }
      #expect(try await store.register(Self.webPush("q")).id != folder)
    }
  }
}
