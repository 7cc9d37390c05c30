import Foundation
import HTTPTransfer
import Testing

@Suite("A connection by https") struct TLSTests {
  /// Reads the first bytes that a client sends to a port on loopback, and closes the connection.
  private final class Listener: Sendable {
    struct Failure: Error {}

    let port: Int
    private let descriptor: Int32

    init() throws {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(descriptor, address, size) == 0 && listen(descriptor, 1) == 0
            && getsockname(descriptor, address, &size) == 0
        }
      }
      guard isBound else { throw Failure() }
      self.descriptor = descriptor
      port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    func firstBytes() async -> [UInt8] {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { [descriptor] in
          let connection = accept(descriptor, nil, nil)
          var buffer = [UInt8](repeating: 0, count: 4096)
          let count = recv(connection, &buffer, buffer.count, 0)
          close(connection)
          continuation.resume(returning: Array(buffer.prefix(max(0, count))))
        }
      }
    }
  }

  @Test("is not left by a redirect to http")
  func redirect() async throws {
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
    let url = try #require(URL(string: "https://news.example/"))
    var meter = HTTPRequester.Meter()
    let failure = await #expect(throws: FetchError.self) { _ = try await requester.get(url, meter: &meter) }
    #expect(failure?.message == "the redirect leads from https to http")
    #expect(meter.requests == 1)
  }

  @Test("offers TLS 1.2 at least")
  func versions() async throws {
    let listener = try Listener()
    let url = try #require(URL(string: "https://127.0.0.1:\(listener.port)/"))
    async let bytes = listener.firstBytes()
    let failure = await #expect(throws: HTTPTransportError.self) {
      _ = try await AsyncHTTPTransport().get(url, headers: [])
    }
    #expect(failure?.isUnsent == true)
    // The extension `supported_versions` (43) of a ClientHello: its length, the length of the list, and the list (RFC
    // 8446 section 4.2.1). Without it, the client offers TLS 1.2 or older.
    let hello = await bytes
    #expect(hello.first == 22, "a handshake")
    let start = try #require(
      hello.indices.dropLast(5).first { index in
        hello[index] == 0 && hello[index + 1] == 43 && hello[index + 2] == 0
          && Int(hello[index + 3]) == Int(hello[index + 4]) + 1
      })
    let length = Int(hello[start + 4])
    let versions = stride(from: start + 5, to: start + 5 + length, by: 2).map {
      Int(hello[$0]) << 8 | Int(hello[$0 + 1])
    }
    // Reserved values test that servers ignore unknown versions (RFC 8701).
    #expect(versions.filter { $0 & 0x0f0f != 0x0a0a }.sorted() == [0x0303, 0x0304])
  }
}
