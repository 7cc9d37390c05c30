import ArgumentParser
import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// The baseline for pushes: a loop that sends messages of the same size with AsyncHTTPClient, and does nothing else.
@main
struct BareSender: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "BareSender", abstract: "Sends messages to mocks of push services as fast as they are accepted.",
    subcommands: [Send.self, Subscriptions.self])
}

/// Sends messages, each to another device.
struct Send: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the messages per second, and the processor time of a message in microseconds.")

  @Option(help: "The service: apns, fcm or webpush.") var service: BareMessage.Service
  @Option(help: "The address of the service without a trailing slash.") var url: String
  @Option(help: "The certificate of the authority that is trusted, a PEM file.") var trust: String
  @Option(help: "The access token of FCM.") var token = ""
  @Option(help: "The number of messages.") var count = 10_000
  @Option(help: "The number of concurrent messages.") var streams = 100

  func run() async throws {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(trust))]
    var configuration = HTTPClient.Configuration()
    configuration.tlsConfiguration = tls
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    let message = BareMessage(service: service, url: url, token: token)
    try await send(1, message, with: client)
    let (start, before) = (ContinuousClock.now, Self.processorTime)
    try await send(count, message, with: client)
    let (time, cost) = ((ContinuousClock.now - start) / .seconds(1), Self.processorTime - before)
    try await client.shutdown()
    print(String(format: "%.0f %.1f", Double(count) / time, cost / Double(count)))
  }

  private func send(_ count: Int, _ message: BareMessage, with client: HTTPClient) async throws {
    let sent = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<min(streams, count) {
        group.addTask {
          while case let number = sent.next(), number < count {
            let response = try await client.execute(try message.request(number), timeout: .seconds(20))
            _ = try await response.body.collect(upTo: 1 << 16)
            guard [.ok, .created].contains(response.status) else {
              throw ValidationError("the service answers \(response.status.code)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Numbers for concurrent tasks, from 0.
  private final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
  }

  /// The processor time of the process in microseconds.
  private static var processorTime: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
    return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
  }
}

/// Makes keys of receivers of Web Push.
struct Subscriptions: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints public keys of P-256 and authentication secrets in hexadecimal, a pair in a line.")

  @Option(help: "The number of pairs.") var count = 1000

  func run() {
    for _ in 0..<count {
      print(Self.hex(P256.KeyAgreement.PrivateKey().publicKey.x963Representation), Self.hex(BareMessage.random(16)))
    }
  }

  private static func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }
}
