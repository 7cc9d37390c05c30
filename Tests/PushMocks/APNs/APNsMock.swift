import Crypto
import Foundation
package import NIOHTTP1

/// A mock of the Apple Push Notification service, over HTTP/2.
///
///     let mocks = try await PushMocks.start()
///     mocks.apns.faults.always(.answer(APNsReason.badDeviceToken.response()))
///     print(mocks.apns.url, mocks.apns.record.totals.faulted)
public final class APNsMock: Sendable {
  /// The id of the key.
  public static let keyID = "MOCKKEY001"
  /// The id of the developer team.
  public static let teamID = "MOCKTEAM01"

  /// The key by which the mock knows the sender, as Apple issues it (`.p8`).
  public let keyPEM: String
  /// The faults, none at first.
  public var faults: MockFaults { server.faults }
  /// The received messages.
  public var record: MockRecord { server.record }
  /// The address without a trailing slash.
  public var url: String { "https://127.0.0.1:\(server.port)" }

  private let server: MockServer

  init(_ configuration: PushMocks.Configuration, certificates: MockCertificates) async throws {
    keyPEM = configuration.keys.apns.pemRepresentation
    let rules = APNsRules(
      key: configuration.keys.apns.publicKey, keyID: Self.keyID, teamID: Self.teamID, topics: configuration.topics,
      isLight: configuration.isLight, clock: configuration.clock)
    server = try await MockServer(
      rules, certificates: certificates, port: configuration.ports.apns, keepsMessages: !configuration.isLight,
      observer: configuration.observer(of: "apns"))
  }

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
