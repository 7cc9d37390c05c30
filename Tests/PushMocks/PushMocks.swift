public import Foundation
import TestKit

/// Mocks of APNs, FCM and a Web Push service. They check what they receive as the documentation of the services states
/// it, refuse the rest with the documented responses, and commit faults on request.
///
///     try await PushMocks.with { mocks in
///       mocks.fcm.faults.next(.hang)
///       // The sender trusts mocks.authority, and sends to mocks.fcm.url.
///       print(mocks.fcm.record.histogram)
///     }
public final class PushMocks: Sendable {
  /// The ports on loopback; 0 for free ones.
  public struct Ports: Sendable {
    /// The ports of the services.
    public var (apns, fcm, webPush) = (0, 0, 0)

    /// Creates ports that are free.
    public init() {}
  }

  /// The configuration of the mocks.
  public struct Configuration: Sendable {
    /// The keys of the sender.
    public var keys: MockKeys
    /// The ports.
    public var ports = Ports()
    /// The apps that the key of APNs may send messages to; nil for all.
    public var topics: Set<String>?
    /// Whether FCM and Web Push offer HTTP/2 as well as HTTP/1.1.
    public var offersHTTP2 = true
    /// Whether signatures and contents are not checked and messages not kept, for measurements of load.
    public var isLight = false
    /// The time by which the age of tokens is judged.
    public var clock: @Sendable () -> Date = { Date() }
    /// Receives the name of the service and each event, for logs.
    public var observer: (@Sendable (_ service: String, _ event: MockEvent) -> Void)?

    /// Creates a configuration.
    public init(keys: MockKeys) { self.keys = keys }

    /// The protocols of services for which HTTP/2 is optional.
    var optionalProtocols: [String] { offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"] }

    func observer(of service: String) -> (@Sendable (MockEvent) -> Void)? {
      guard let observer else { return nil }
      return { observer(service, $0) }
    }
  }

  /// The certificate of the authority that clients must trust, as PEM.
  public let authority: String
  /// The mock of APNs.
  public let apns: APNsMock
  /// The mock of FCM.
  public let fcm: FCMMock
  /// The mock of a Web Push service.
  public let webPush: WebPushMock

  /// Starts the mocks.
  ///
  /// - Throws: `MockCertificates.Failure`, or an error of the network.
  public init(_ configuration: Configuration) async throws {
    let certificates = try MockCertificates()
    authority = certificates.authority
    apns = try await APNsMock(configuration, certificates: certificates)
    fcm = try await FCMMock(configuration, certificates: certificates)
    webPush = try await WebPushMock(configuration, certificates: certificates)
  }

  /// Starts mocks with keys that all callers in the process share.
  public static func start(_ configure: (inout Configuration) -> Void = { _ in }) async throws -> PushMocks {
    var configuration = Configuration(keys: try await MockKeys.shared.value)
    configure(&configuration)
    return try await PushMocks(configuration)
  }

  /// Runs the body with mocks and stops them afterwards.
  public static func with<Result>(
    _ configure: (inout Configuration) -> Void = { _ in }, _ body: (PushMocks) async throws -> Result
  ) async throws -> Result {
    try await withResource(try await start(configure), release: { await $0.stop() }, body)
  }

  /// Stops listening and closes all connections.
  public func stop() async {
    await apns.goDown()
    await fcm.goDown()
    await webPush.goDown()
  }
}
