import Foundation

/// What can be wrong with a compressed body.
public enum CodingFault: Sendable, CaseIterable {
  /// The checksum at the end is another.
  case wrongChecksum
  /// The length at the end is another.
  case wrongLength
  /// The end is missing, though `Content-Length` is met.
  case cut
  /// Bytes in the middle are others.
  case damaged
  /// There is something behind the end.
  case trailingBytes
  /// It is said to be gzip and is not.
  case plainCalledGzip
  /// It is gzip and not said to be.
  case gzipCalledPlain
  /// It is gzip and said to be Brotli.
  case gzipCalledBrotli
  /// It is said to be in a coding that does not exist.
  case unknownCoding
  /// It is compressed twice and said to be so once.
  case compressedTwice
}

extension FaultAnswer {
  /// Compressed, and said to be.
  public func gzipped() -> FaultAnswer { body(Gzip.compress).setting("Content-Encoding", "gzip") }

  /// Compressed, with something wrong.
  public func gzipped(_ fault: CodingFault) -> FaultAnswer {
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

  /// A small body that becomes a large one: 1 GiB of about 1 MiB.
  ///
  /// What it becomes is proper JSON, an empty list with much space in it: nothing but its size gives it away.
  ///
  /// - Parameters:
  ///   - bytes: What it becomes, in whole MiB.
  ///   - list: `items` or `changes`.
  public static func gzipBomb(expandingTo bytes: Int = 1 << 30, list: String = "items") -> FaultAnswer {
    let space = Data(repeating: UInt8(ascii: " "), count: 1 << 20)
    let body = Gzip.member(pieces: [
      (Data(#"{"\#(list)":["#.utf8), 1), (space, bytes >> 20), (Data("]}".utf8), 1),
    ])
    return FaultAnswer(
      headers: [("Content-Type", "application/json"), ("Content-Encoding", "gzip"), ("ETag", #""bomb-gz""#)],
      body: body)
  }

  /// The same without compression: a body of so many bytes.
  public static func huge(bytes: Int, list: String = "items") -> FaultAnswer {
    let frame = (Data(#"{"\#(list)":["#.utf8), Data("]}".utf8))
    let space = Data(repeating: UInt8(ascii: " "), count: max(0, bytes - frame.0.count - frame.1.count))
    return FaultAnswer(headers: [("Content-Type", "application/json")], body: frame.0 + space + frame.1)
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
