import Foundation

/// A defect of a compressed body.
public enum CodingFault: Sendable, CaseIterable {
  /// The checksum at the end is wrong.
  case wrongChecksum
  /// The length at the end is wrong.
  case wrongLength
  /// The end is missing, although the body has as many bytes as `Content-Length` declares.
  case cut
  /// Bytes in the middle are changed.
  case damaged
  /// Extra bytes follow the end.
  case trailingBytes
  /// The body is declared as gzip but is not compressed.
  case plainCalledGzip
  /// The body is gzip but is not declared as such.
  case gzipCalledPlain
  /// The body is gzip but is declared as Brotli.
  case gzipCalledBrotli
  /// The body is declared in a coding that does not exist.
  case unknownCoding
  /// The body is compressed twice but declared once.
  case compressedTwice
}

extension FaultResponse {
  /// Returns the response compressed and declared as gzip.
  public func gzipped() -> FaultResponse { body(Gzip.compress).setting("Content-Encoding", "gzip") }

  /// Returns the response compressed with a defect.
  public func gzipped(_ fault: CodingFault) -> FaultResponse {
    let right = gzipped()
    switch fault {
    case .wrongChecksum: return right.body { $0.flipping($0.count - 8) }
    case .wrongLength: return right.body { $0.flipping($0.count - 4) }
    case .cut: return right.body { $0.dropLast(max(9, $0.count / 2)) }
    case .damaged: return right.body { $0.flipping(10).flipping($0.count / 2) }
    case .trailingBytes: return right.body { $0 + Data("trailing".utf8) }
    case .plainCalledGzip: return setting("Content-Encoding", "gzip")
    case .gzipCalledPlain: return right.removing("Content-Encoding")
    case .gzipCalledBrotli: return right.setting("Content-Encoding", "br")
    case .unknownCoding: return setting("Content-Encoding", "x-tidings")
    case .compressedTwice: return right.body(Gzip.compress)
    }
  }

  /// Returns a small body that expands to a large one: from about 1 MiB to 1 GiB by default.
  ///
  /// The expanded body is valid JSON, an empty list with a lot of white space. Only its size reveals the attack.
  ///
  /// - Parameters:
  ///   - bytes: The expanded size in bytes; rounded down to whole MiB.
  ///   - list: `items` or `changes`.
  public static func gzipBomb(expandingTo bytes: Int = 1 << 30, list: String = "items") -> FaultResponse {
    let space = Data(repeating: UInt8(ascii: " "), count: 1 << 20)
    let body = Gzip.member(pieces: [
      (Data(#"{"\#(list)":["#.utf8), 1), (space, bytes >> 20), (Data("]}".utf8), 1),
    ])
    return FaultResponse(
      headers: [("Content-Type", "application/json"), ("Content-Encoding", "gzip"), ("ETag", #""bomb-gz""#)],
      body: body)
  }

  /// Returns the same list uncompressed, with a body of the given number of bytes.
  public static func huge(bytes: Int, list: String = "items") -> FaultResponse {
    let frame = (Data(#"{"\#(list)":["#.utf8), Data("]}".utf8))
    let space = Data(repeating: UInt8(ascii: " "), count: max(0, bytes - frame.0.count - frame.1.count))
    return FaultResponse(headers: [("Content-Type", "application/json")], body: frame.0 + space + frame.1)
  }
}

extension Data {
  fileprivate func flipping(_ index: Int) -> Data {
    guard indices.contains(index) else { return self }
    var data = self
    data[index] ^= 0xff
    return data
  }
}
