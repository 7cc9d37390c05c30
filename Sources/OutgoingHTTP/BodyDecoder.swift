import CZlib
import HTTPConditions

/// Decodes the content codings of a body (RFC 9110 section 8.4.1).
///
/// Servers and caches often name a coding that the body does not have, or none for a body that is compressed. The first
/// bytes decide, as far as codings differ in them.
struct BodyDecoder {
  /// The maximum ratio of the sizes after and before decoding. DEFLATE reaches 1,032; markup stays far below 200.
  private static let maximumRatio = 200
  /// The size in bytes up to which any ratio is accepted.
  private static let freeBytes = 1 << 20

  let host: String
  /// The maximum number of bytes after decoding.
  let limit: Int
  let codings: DeclaredCodings

  /// - Parameter fields: The values of `Content-Encoding`.
  init(host: String, limit: Int, fields: [String]) {
    self.host = host
    self.limit = limit
    codings = DeclaredCodings(lines: fields)
  }

  /// Whether a body may have a coding. Other bodies stay as they are.
  func isNeeded(for body: [UInt8]) -> Bool {
    !body.isEmpty && (!codings.names.isEmpty || DeclaredCodings.isGzip(body) || DeclaredCodings.isZlib(body))
  }

  /// Returns a body without codings.
  ///
  /// - Throws: `OutgoingError.tooLarge`, `malformed`.
  func decoded(_ body: [UInt8]) throws(OutgoingError) -> [UInt8] {
    var layers = 0
    var rest = body
    let maximum = min(limit, max(Self.freeBytes, body.count.multipliedReportingOverflow(by: Self.maximumRatio).0))
    while layers < DeclaredCodings.maximumLayers, DeclaredCodings.isGzip(rest) {
      // A window of 15 bits, plus 16 to select the gzip format (zlib.h, inflateInit2).
      guard let decoded = try inflated(rest, windowBits: 15 + 16, maximum) else {
        throw .malformed("the response of \(host) is compressed wrongly")
      }
      (rest, layers) = (decoded, layers + 1)
    }
    if layers < DeclaredCodings.maximumLayers, DeclaredCodings.isZlib(rest),
      let decoded = try inflated(rest, windowBits: 15, maximum)
    {
      return decoded
    }
    if layers == 0, codings.isDecodable {
      // "deflate" is the format of zlib, which is decoded by now. Some servers send the bare compressed data (RFC 9110
      // section 8.4.1.2).
      if let decoded = try inflated(rest, windowBits: -15, maximum) { return decoded }
      if codings.isDeflate, !Self.isText(rest) {
        throw .malformed("the response of \(host) is compressed wrongly")
      }
    }
    // The server did not find the coding in `Accept-Encoding`.
    if codings.undecodable != nil, !Self.isText(rest) {
      throw .malformed("\(host) uses a content coding that was not accepted")
    }
    return rest
  }

  /// Whether a body begins like XML, HTML or JSON in any encoding.
  private static func isText(_ body: [UInt8]) -> Bool {
    let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]]
    if marks.contains(where: { body.starts(with: $0) }) { return true }
    let first = body.first { ![0, 0x09, 0x0A, 0x0D, 0x20].contains($0) }
    return first.map { "<{[".utf8.contains($0) } ?? true
  }

  /// Decompresses a body.
  ///
  /// - Returns: nil if it is not in the format, or incomplete.
  /// - Throws: `OutgoingError.tooLarge`.
  private func inflated(_ body: [UInt8], windowBits: CInt, _ maximum: Int) throws(OutgoingError) -> [UInt8]? {
    // zlib refers to its state by address, which must not change.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    guard CZlib_inflateInit2(stream, windowBits) == Z_OK else { return nil }
    defer { inflateEnd(stream) }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var used = 0
    while true {
      let (status, consumed, produced) = Self.step(stream, body[used...], &buffer)
      used += consumed
      output += buffer.prefix(produced)
      guard output.count <= maximum else { throw tooLarge(maximum) }
      switch status {
      case Z_OK where consumed > 0 || produced > 0: continue
      case Z_STREAM_END:
        // Several members may follow each other (RFC 1952 section 2.2). Other bytes behind the end are ignored.
        guard windowBits > 15, DeclaredCodings.isGzip(body[used...]), inflateReset(stream) == Z_OK else {
          return output
        }
      default: return nil
      }
    }
  }

  private static func step(
    _ stream: UnsafeMutablePointer<z_stream>, _ input: ArraySlice<UInt8>, _ buffer: inout [UInt8]
  ) -> (status: CInt, consumed: Int, produced: Int) {
    input.withUnsafeBufferPointer { input in
      buffer.withUnsafeMutableBufferPointer { output in
        // zlib only reads its input; the pointer is not const for historical reasons.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.pointee.avail_in = uInt(input.count)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = uInt(output.count)
        let status = inflate(stream, Z_NO_FLUSH)
        return (status, input.count - Int(stream.pointee.avail_in), output.count - Int(stream.pointee.avail_out))
      }
    }
  }

  private func tooLarge(_ maximum: Int) -> OutgoingError {
    .tooLarge(
      maximum == limit
        ? "the response of \(host) has more than \(limit) bytes"
        : "the response of \(host) is compressed to less than one part in \(Self.maximumRatio)")
  }
}
