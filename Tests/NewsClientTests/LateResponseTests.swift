import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("A response at the end of a fetch") struct LateResponseTests {
  /// A transport whose first response arrives when the time of the fetch has just ended, and is read nevertheless.
  private final class LateTransport: HTTPTransport {
    /// A body that is complete although its reader is cancelled.
    struct Body: AsyncSequence, Sendable {
      let data: Data

      func makeAsyncIterator() -> Iterator { Iterator(data: data) }

      struct Iterator: AsyncIteratorProtocol {
        var data: Data?

        mutating func next() async throws -> Data? { data.take() }
      }
    }

    private let clock: ManualClock
    private let transport = AsyncHTTPTransport()
    private let isLate = Mutex(true)

    init(clock: ManualClock) { self.clock = clock }

    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      var response = try await transport.get(url, headers: headers)
      let delays = isLate.withLock { isLate in
        defer { isLate = false }
        return isLate
      }
      guard delays else { return response }
      var data = Data()
      for try await chunk in response.body { data += chunk }
      try await eventually("the timer is set") { !clock.sleeping.isEmpty }
      clock.advance(by: 25)
      try await eventually("the timer is set again") { clock.sleeping.contains { $0 <= 5 } }
      clock.advance(by: 5)
      while !Task.isCancelled { await Task.yield() }
      response.body = Body(data: data)
      return response
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "not used") }
  }

  @Test("that its caller has not waited for is not stored, so that the next fetch reports its items")
  func expired() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client(LateTransport(clock: installation.clock))
      let report = await client.performFetch(.scheduled)
      #expect(report.error == "the fetch did not end within 30 s")
      // It waits for the end of the abandoned one.
      let next = await client.performFetch(.scheduled)
      #expect((next.result, next.inserted) == (.newData, 1))
      #expect(try client.runs().map(\.result) == [.newData, .failed])
    }
  }
}
