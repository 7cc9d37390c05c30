import Foundation
import News
import TestKit
import TestSupport

/// A client that opens an event stream or a long poll, and sends an endless body on the same connection.
///
/// The server answers the first request for as long as the connection lasts. It must not read the body.
struct EndlessSender {
  private let system: TortureSystem
  private var random: SplitMix64
  /// The number of connections that accepted a part of a body.
  private(set) var bodies = 0

  /// The maximum number of bytes that a connection accepts: the buffers of both sockets, and the bytes that the server
  /// discards while it closes.
  private static let maximumBytes = 64 << 20

  init(system: TortureSystem, seed: UInt64) {
    self.system = system
    random = SplitMix64(seed: seed)
  }

  /// Sends until the server closes the connection or accepts no bytes for a few seconds.
  mutating func send() async throws {
    guard let port = system.ports.randomElement(using: &random) else { return }
    let seconds = Int.random(in: 1...5, using: &random)
    var path = "/v1/events"
    if Bool.random(using: &random), let token = try? await system.currentToken(of: []) {
      path = "/v1/changes?wait=50&since=\(token)"
    }
    let request = "GET \(path) HTTP/1.1\r\nHost: a\r\n" + (Self.requestEnds.randomElement(using: &random) ?? "")
    let taken = try? await RawConnection.fill(
      Data(request.utf8) + Data(count: 1 << 20), limit: Self.maximumBytes, port: port, seconds: seconds)
    guard let taken, taken > request.utf8.count else { return try await Task.sleep(for: .milliseconds(50)) }
    bodies += 1
    guard taken < Self.maximumBytes else {
      throw Ledger.Violation(description: "a server accepted \(taken) bytes after \(request)")
    }
  }

  /// The rest of the header and the start of the body.
  private static let requestEnds = [
    "\r\nPOST /v1/editorial/items HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999\r\n\r\n",
    "\r\nPOST /v1/editorial/items HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
    "Connection: Upgrade\r\nUpgrade: x\r\n\r\n",
  ]
}
