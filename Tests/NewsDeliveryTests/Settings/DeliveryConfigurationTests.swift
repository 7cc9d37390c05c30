import Crypto
import CryptoExtras
import Foundation
import News
import NewsDelivery
import TestKit
import Testing

/// The keys that settings name.
@Suite struct DeliveryConfigurationTests {
  private static let key = P256.Signing.PrivateKey()

  private static func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "delivery-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  private static func file(_ text: String, in folder: URL) throws -> String {
    let url = folder.appending(path: UUID().uuidString)
    try Data(text.utf8).write(to: url)
    return url.path
  }

  /// Returns the error of settings.
  private static func error(_ change: (inout DeliverySettings) -> Void) -> DeliverySettingError? {
    var settings = DeliverySettings()
    change(&settings)
    return #expect(throws: DeliverySettingError.self) { try DeliveryConfiguration(settings) }
  }

  @Test("Without settings there is no push service")
  func none() throws {
    let configuration = try DeliveryConfiguration(DeliverySettings())
    #expect(configuration.providers.isEmpty && configuration.webPushKey == nil)
    let limits = configuration.limits
    #expect(limits.window == .seconds(60) && limits.budget == 3 && limits.reportRate == 0.01)
  }

  @Test("The services in use follow from the keys")
  func all() throws {
    try Self.withFolder { folder in
      let pem = try Self.file(Self.key.pemRepresentation, in: folder)
      var settings = DeliverySettings()
      (settings.apnsKeyFile, settings.apnsKeyID, settings.apnsTeamID) = (pem, "AZ09AZ09AZ", "DEF123GHIJ")
      #expect(try DeliveryConfiguration(settings).providers == [.apns])
      (settings.vapidKeyFile, settings.vapidSubject) = (pem, "mailto:news@example.org")
      let account = try JSONEncoder().encode([
        "type": "service_account", "project_id": "example-news", "client_email": "push@example.org",
        "private_key": try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation,
      ])
      settings.fcmCredentials = try Self.file(String(decoding: account, as: UTF8.self), in: folder)
      let configuration = try DeliveryConfiguration(settings)
      #expect(configuration.providers == [.apns, .fcm, .webpush])
      let publicKey = try #require(configuration.webPushKey)
      #expect(Data(base64URL: publicKey) == Self.key.publicKey.x963Representation)
    }
  }

  @Test("A setting that belongs to another one is missed by name")
  func incomplete() {
    #expect(Self.error { $0.apnsKeyFile = "/x" }?.name == "TIDINGS_APNS_KEY_ID")
    #expect(Self.error { $0.apnsTeamID = "DEF123GHIJ" }?.name == "TIDINGS_APNS_KEY_FILE")
    let team = Self.error { ($0.apnsKeyFile, $0.apnsKeyID) = ("/x", "ABC123DEFG") }
    #expect(team?.description == "TIDINGS_APNS_TEAM_ID must be set together with TIDINGS_APNS_KEY_FILE")
    let key = Self.error { $0.vapidSubject = "mailto:a@b.example" }
    #expect(key?.description == "TIDINGS_VAPID_KEY_FILE must be set together with TIDINGS_VAPID_SUBJECT")
    #expect(Self.error { $0.vapidKeyFile = "/x" }?.name == "TIDINGS_VAPID_SUBJECT")
  }

  @Test("An error names the setting and the rule, and nothing of the file")
  func invalidFiles() throws {
    try Self.withFolder { folder in
      let secret = "c2VjcmV0LWtleS1tYXRlcmlhbA"
      let wrong = try Self.file("-----BEGIN PRIVATE KEY-----\n\(secret)\n-----END PRIVATE KEY-----\n", in: folder)
      let larger = try Self.file(P384.Signing.PrivateKey().pemRepresentation, in: folder)
      let empty = try Self.file("", in: folder)
      for path in [wrong, larger, empty, folder.path, "\(folder.path)/missing"] {
        let errors = [
          (
            "TIDINGS_APNS_KEY_FILE",
            Self.error { ($0.apnsKeyFile, $0.apnsKeyID, $0.apnsTeamID) = (path, "ABC123DEFG", "DEF123GHIJ") }
          ),
          ("TIDINGS_FCM_CREDENTIALS", Self.error { $0.fcmCredentials = path }),
          (
            "TIDINGS_VAPID_KEY_FILE", Self.error { ($0.vapidKeyFile, $0.vapidSubject) = (path, "https://news.example") }
          ),
          ("TIDINGS_PUSH_CA_FILE", Self.error { $0.pushCAFile = path }),
        ]
        for (name, error) in errors {
          let error = try #require(error)
          #expect(error.name == name && error.rule.hasPrefix("must name "))
          #expect(path != empty || error.rule == "must name a text file that is not empty")
          #expect(!error.description.contains(secret) && !error.description.contains(folder.path))
        }
      }
    }
  }

  @Test(
    "A subject that only Apple's service refuses is refused with the form that it accepts",
    arguments: [
      "news@example.org", "mailto:", "mailto:x", "mailto:a b", "mailto:a b@example.org", "mailto:ops@localhost",
      "mailto:ops@news.localhost", "mailto:ops@printer.local", "mailto:<a@b.org>", "mailto:Ops <a@b.org>",
      "mailto:@b.org",
      "mailto:a@b@c.org", "mailto:a@b.org,c@d.org", "mailto:a@b.org?subject=x", "mailto:a@b.org ", " mailto:a@b.org",
      "mailto:a@192.0.2.1", "mailto:a@[192.0.2.1]", "mailto:a@b..org", "mailto:a@b.org.", "mailto:a@-b.org",
      "mailto:a@b_c.org", "mailto:ops@bücher.example", "MAILTO:ops@LOCALHOST", "http://news.example", "https://",
      "https://localhost", "https://localhost:8080/", "https://news", "https://192.0.2.1/", "https://[2001:db8::1]/",
      "https://news.example:port/", "https://ops@news.example/", "https://news.example/a b", "https://news.example/#a",
      "https://.example", "https://news.example.", "https://news.example:123456/", "https://news.c",
      "mailto:a@\(String(repeating: "b", count: 64)).org",
      "mailto:a@\(String(repeating: "b.", count: 126))or",
    ])
  func refusedSubjects(subject: String) {
    let error = Self.error { ($0.vapidKeyFile, $0.vapidSubject) = ("/x", subject) }
    #expect(error?.name == "TIDINGS_VAPID_SUBJECT")
    #expect(error?.rule.contains("such as mailto:news@example.org or https://news.example.org") == true)
  }

  @Test(
    "A subject with a full host name is accepted",
    arguments: [
      "mailto:news@example.org", "mailto:the.desk+push@news-room.example.co.uk", "mailto:o'brien@XN--BCHER-KVA.example",
      "mailto:news@Example.ORG",
      "https://news.example", "https://news.example/contact?of=push", "https://news.example:8443/",
      "https://3d.news.example", "https://news.example:65535", "mailto:a@b.co",
      "mailto:a@\(String(repeating: "b", count: 63)).org",
      "mailto:a@\(String(repeating: "b.", count: 125))org",
    ])
  func acceptedSubjects(subject: String) {
    // The missing key is found after the subject.
    let error = Self.error { ($0.vapidKeyFile, $0.vapidSubject) = ("/nowhere", subject) }
    #expect(error?.name == "TIDINGS_VAPID_KEY_FILE")
  }

  @Test("Ids and origins are checked")
  func values() {
    #expect(
      Self.error { ($0.apnsKeyFile, $0.apnsKeyID, $0.apnsTeamID) = ("/x", "ABC123DEFG", "team") }?.name
        == "TIDINGS_APNS_TEAM_ID")
    for id in ["abc123defg", "ABC123DEF", "ABC123DEFGH", "ABC123DEF-", "ABC123DEF@", "ABC123DEF["] {
      let error = Self.error { ($0.apnsKeyFile, $0.apnsKeyID, $0.apnsTeamID) = ("/x", id, "DEF123GHIJ") }
      #expect(error?.name == "TIDINGS_APNS_KEY_ID", "\(id)")
    }
    #expect(Self.error { $0.pushOrigins = ["ntfy.example.org"] }?.name == "TIDINGS_PUSH_ORIGINS")
  }

  @Test("A service in place of Apple's or Google's receives tokens over TLS, and without TLS on this machine only")
  func services() throws {
    for url in ["http://push.example", "http://10.0.0.1:8443", "http://127.0.0.1.example", "push.example"] {
      for error in [Self.error({ $0.apnsURL = url }), Self.error({ $0.fcmURL = url })] {
        #expect(error?.rule.hasPrefix("must be an https URL, or an http URL of this machine") == true, "\(url)")
      }
    }
    #expect(Self.error { $0.apnsURL = "http://a.example" }?.name == "TIDINGS_APNS_URL")
    #expect(Self.error { $0.fcmURL = "http://a.example" }?.name == "TIDINGS_FCM_URL")
    for url in ["https://push.example", "http://127.0.0.1:8443", "http://localhost:9", "http://[::1]"] {
      var settings = DeliverySettings()
      (settings.apnsURL, settings.fcmURL) = (url, url)
      #expect(try DeliveryConfiguration(settings).providers.isEmpty, "\(url)")
    }
  }

  @Test("A service account without a part, or with a key that is not RSA, is refused")
  func serviceAccounts() throws {
    let complete = [
      "type": "service_account", "project_id": "example-news", "client_email": "push@example.org",
      "private_key": Self.key.pemRepresentation,
    ]
    for (change, rule) in [
      (("type", "authorized_user"), "service account"), (("project_id", ""), "project_id"),
      (("project_id", "../x"), "project_id"), (("project_id", "News"), "project_id"),
      (("client_email", ""), "client_email"),
      (("private_key", ""), "private_key"), (("token_uri", "http://oauth2.example/token"), "token_uri"),
      (("token_uri", "oauth2.googleapis.com/token"), "token_uri"), (("token_uri", "ftp://a.example/"), "token_uri"),
      (("token_uri", "http://localhost.example/"), "token_uri"), (("token_uri", "https://"), "token_uri"),
      (("type", "service_account"), "RSA key"),
    ] {
      var account = complete
      account[change.0] = change.1
      let json = try JSONEncoder().encode(account)
      let error = #expect(throws: FCMCredentials.InvalidAccount.self) { try FCMCredentials(json: json) }
      #expect(error?.rule.contains(rule) == true)
    }
  }
  @Test("Tokens are requested over TLS, by default from Google, and without TLS from this machine only")
  func tokenURIs() throws {
    let key = try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation
    let google = "https://oauth2.googleapis.com/token"
    #expect(FCMSender.service == "https://fcm.googleapis.com")
    for (uri, expected) in [
      (nil, google), ("", google), ("https://t.example:8443/a", nil), ("http://127.0.0.1:9/token", nil),
      ("http://localhost/t", nil), ("http://[::1]:9/token", nil),
    ] as [(String?, String?)] {
      // The id of a project of a domain has its name.
      var account = [
        "type": "service_account", "project_id": "example.com:news-1", "client_email": "push@example.org",
        "private_key": key,
      ]
      account["token_uri"] = uri
      let json = try JSONEncoder().encode(account)
      #expect(try FCMCredentials(json: json).tokenURI == expected ?? uri)
    }
  }
}
