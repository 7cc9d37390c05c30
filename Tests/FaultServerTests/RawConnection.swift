import Foundation
import Synchronization
import TestKit

#if canImport(Glibc)
  import Glibc
#endif

/// A socket to a server on loopback that returns the bytes as they arrive.
final class RawConnection: Sendable {
  /// The reason why reading ended.
  enum Ending: Equatable {
    case closed, reset, timeout
  }

  struct Failure: Error {}

  private let descriptor: Int32

  init(port: Int) throws {
    descriptor = try Loopback.connect(to: port)
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws {
    try Loopback.send(Array(text.utf8), on: descriptor)
  }

  /// Sends a GET request.
  func get(_ target: String = "/", _ headers: String...) throws {
    try send((["GET \(target) HTTP/1.1", "Host: here"] + headers).joined(separator: "\r\n") + "\r\n\r\n")
  }

  /// Reads until the connection ends, until no byte has arrived for the given time, or until the limit is reached.
  func read(timeout: Duration = .seconds(30), upTo maximum: Int = .max) async -> (bytes: Data, ending: Ending?) {
    await withCheckedContinuation { continuation in
      // Runs on a thread that may block.
      DispatchQueue.global().async { [self] in
        continuation.resume(returning: readBlocking(milliseconds: Int(timeout / .milliseconds(1)), maximum))
      }
    }
  }

  func text(upTo maximum: Int = .max) async -> String {
    String(decoding: await read(upTo: maximum).bytes, as: UTF8.self)
  }

  /// Reads up to and including a text, and nothing beyond it.
  ///
  /// - Returns: The text before it.
  func text(before end: String) async throws -> String {
    var text = ""
    while !text.hasSuffix(end) {
      let (bytes, ending) = await read(upTo: 1)
      guard ending == nil else { throw Failure() }
      text += String(decoding: bytes, as: UTF8.self)
    }
    return String(text.dropLast(end.count))
  }

  /// Whether neither bytes nor the end of the connection arrive within 300 ms.
  var isSilent: Bool {
    get async {
      let (bytes, ending) = await read(timeout: .milliseconds(300))
      return bytes.isEmpty && ending == .timeout
    }
  }

  private func readBlocking(milliseconds: Int, _ maximum: Int) -> (bytes: Data, ending: Ending?) {
    var patience = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var received = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while received.count < maximum {
      let count = recv(descriptor, &buffer, min(buffer.count, maximum - received.count), 0)
      if count == 0 { return (received, .closed) }
      if count < 0 { return (received, errno == EAGAIN ? .timeout : .reset) }
      received += buffer[..<count]
    }
    return (received, nil)
  }
}

/// Makes one exchange on a new connection and reads to the end of the connection.
func exchange(
  _ server: Int, _ target: String = "/", _ header: String = "Connection: close", timeout: Duration = .seconds(30)
) async throws -> (head: String, body: Data, ending: RawConnection.Ending?) {
  let connection = try RawConnection(port: server)
  try connection.get(target, header)
  let (bytes, ending) = await connection.read(timeout: timeout)
  let end = bytes.firstRange(of: Data("\r\n\r\n".utf8))
  return (
    String(decoding: bytes[..<(end?.lowerBound ?? bytes.endIndex)], as: UTF8.self),
    Data(bytes[(end?.upperBound ?? bytes.endIndex)...]), ending
  )
}
