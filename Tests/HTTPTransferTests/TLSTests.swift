import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("A connection by https") struct TLSTests {
  @Test("is not left by a redirect to http", arguments: ["https", "HTTPS"])
  func redirect(scheme: String) async throws {
    struct Redirecting: HTTPTransport {
      func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
        HTTPTransportResponse(
          status: 302, headers: [HTTPHeader("Location", "HTTP://news.example/")], body: AsyncThrowingStream { nil })
      }

      func upload(
        _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
      ) async throws -> HTTPTransportResponse { try await get(url, headers: headers) }
    }
    let clock = SystemClock()
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-none-\(UUID().uuidString)")
    let requester = HTTPRequester(
      transport: Redirecting(), userAgent: "tests", now: { clock.now.date },
      retryAfterStore: RetryAfterStore(store: folder, clock: clock))
    let url = try #require(URL(string: "\(scheme)://news.example/"))
    var meter = HTTPRequester.Meter()
    let failure = await #expect(throws: FetchError.self) { _ = try await requester.get(url, meter: &meter) }
    #expect(failure?.message == "the redirect leads from https to http")
    #expect(failure?.code == .redirect && failure?.status == 302)
    #expect(meter.requests == 1)
  }

  @Test("offers TLS 1.2 at least")
  func versions() async throws {
    let versions = try await ClientHello.versions { port in
      let failure = await #expect(throws: HTTPTransportError.self) {
        let url = try #require(URL(string: "https://127.0.0.1:\(port)/"))
        _ = try await AsyncHTTPTransport().get(url, headers: [])
      }
      #expect(failure?.isUnsent == true)
    }
    #expect(versions == [0x0303, 0x0304])
  }
}
