import CryptoExtras
public import Foundation
package import NIOHTTP1

/// A mock of FCM HTTP v1 with the token service of Google, over HTTP/2 and HTTP/1.1.
///
///     let mocks = try await PushMocks.start()
///     mocks.fcm.faults.next(.answer(FCMError.quotaExceeded.response.retry(after: 30)))
///     try mocks.fcm.serviceAccount.write(to: URL(filePath: "account.json"))
public final class FCMMock: Sendable {
  /// The id of the project.
  public static let projectID = "mock-news"
  private static let email = "push@mock-news.iam.gserviceaccount.com"
  private static let keyID = "0123456789abcdef0123456789abcdef01234567"
  private static let tokenPath = "/token"

  /// The faults of messages, none at first.
  public var faults: MockFaults { server.faults }
  /// The faults of the token service, none at first.
  public var tokenFaults: MockFaults { tokens.faults }
  /// The received messages.
  public var record: MockRecord { server.record }
  /// The address without a trailing slash.
  public var url: String { "https://127.0.0.1:\(server.port)" }
  /// The number of access tokens that were issued.
  public var issuedTokens: Int { tokens.issued }
  /// The life of new access tokens in seconds, 3599 at first.
  public var tokenLifetime: Double {
    get { tokens.lifetime }
    set { tokens.lifetime = newValue }
  }

  private let server: MockServer
  private let tokens: FCMAccessTokens
  private let keyPEM: String

  init(_ configuration: PushMocks.Configuration, certificates: MockCertificates) async throws {
    keyPEM = configuration.keys.account.pkcs8PEMRepresentation
    tokens = FCMAccessTokens(
      key: configuration.keys.account.publicKey, email: Self.email, keyID: Self.keyID, clock: configuration.clock)
    let rules = FCMRules(
      protocols: configuration.optionalProtocols, projectID: Self.projectID, tokens: tokens, tokenPath: Self.tokenPath,
      isLight: configuration.isLight,
      clock: configuration.clock)
    server = try await MockServer(
      rules, certificates: certificates, port: configuration.ports.fcm, keepsMessages: !configuration.isLight,
      observer: configuration.observer(of: "fcm"))
  }

  /// The JSON file of the service account, as the console of Firebase issues it.
  public var serviceAccount: Data {
    let account = [
      "type": "service_account", "project_id": Self.projectID, "private_key_id": Self.keyID, "private_key": keyPEM,
      "client_email": Self.email, "client_id": "100000000000000000001",
      "auth_uri": "\(url)/auth", "token_uri": "\(url)\(Self.tokenPath)", "universe_domain": "googleapis.com",
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return (try? encoder.encode(account)) ?? Data()
  }

  /// Makes all access tokens invalid.
  public func revokeTokens() { tokens.revoke() }

  /// Checks a POST request without recording it.
  ///
  /// - Returns: The status of the response, and the rule that the request breaks; nil for none.
  package func trial(_ path: String, _ headers: HTTPHeaders, _ body: [UInt8]) -> (status: Int, rule: String?) {
    server.trial(path: path, headers: headers, body: body)
  }

  /// Begins an outage, which closes all connections.
  public func goDown(_ outage: PushOutage = .refused) async { await server.goDown(outage) }

  /// Ends an outage.
  public func comeBack() async throws { try await server.comeBack() }
}
