import Foundation
import NIOCore

/// The search for the delimiters in the content of a multipart body.
///
/// A delimiter is CR LF `--` and the boundary (RFC 2046 section 5.1.1). A boundary has no CR, so after a mismatch no
/// delimiter can begin within the bytes that were equal. The search therefore never returns to a byte, and bytes at the
/// end of the input that may begin a delimiter need not be kept: they are equal to those of the delimiter.
struct DelimiterSearch: Sendable {
  enum Result {
    case content(ByteBuffer)
    case delimiter
  }

  /// The number of comparisons of bytes: at most three for each byte of the input.
  private(set) var comparisons = 0
  /// The number of bytes at the end of the input that equal the beginning of the delimiter.
  private(set) var matched = Self.lineEndLength

  /// The number of matched bytes that are not content, because they end the line before it.
  private var leading = Self.lineEndLength
  private let delimiter: ByteBuffer

  private static let lineEndLength = 2

  /// Begins a search at the beginning of a body.
  init(_ boundary: MultipartBoundary) {
    delimiter = ByteBuffer(bytes: Array("\r\n--".utf8) + boundary.bytes)
  }

  /// Begins a new search at the beginning of a line, where a delimiter needs no further line end.
  mutating func beginLine() {
    matched = Self.lineEndLength
    leading = Self.lineEndLength
  }

  /// Takes content or a delimiter from the input.
  ///
  /// - Returns: nil if more input is needed; then the input is empty.
  mutating func next(in input: inout ByteBuffer) -> Result? {
    while true {
      if matched == 0, let content = contentBeforeDelimiter(in: &input) { return .content(content) }
      let equal = input.withUnsafeReadableBytes { matchLength($0, from: 0) }
      input.moveReaderIndex(forwardBy: equal)
      matched += equal
      if matched == delimiter.readableBytes {
        (matched, leading) = (0, 0)
        return .delimiter
      }
      guard input.readableBytes > 0 else { return nil }
      let content = delimiter.getSlice(at: leading, length: matched - leading)
      (matched, leading) = (0, 0)
      if let content, content.readableBytes > 0 { return .content(content) }
    }
  }

  /// Takes the bytes before a delimiter, or before the beginning of one at the end of the input. Also takes the bytes
  /// that equal the delimiter.
  ///
  /// - Returns: nil if there is no content before.
  private mutating func contentBeforeDelimiter(in input: inout ByteBuffer) -> ByteBuffer? {
    let length = input.withUnsafeReadableBytes { bytes in
      var start = 0
      while let candidate = carriageReturn(in: bytes, from: start) {
        let equal = matchLength(bytes, from: candidate)
        if equal == delimiter.readableBytes || candidate + equal == bytes.count {
          matched = equal
          return candidate
        }
        start = candidate + equal
      }
      return bytes.count
    }
    let content = input.readSlice(length: length)
    input.moveReaderIndex(forwardBy: matched)
    return length > 0 ? content : nil
  }

  /// Returns the position of the next CR.
  private mutating func carriageReturn(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = bytes.baseAddress, start < bytes.count else { return nil }
    let found = memchr(base + start, Int32(UInt8(ascii: "\r")), bytes.count - start).map { UnsafeRawPointer($0) - base }
    comparisons += (found.map { $0 + 1 } ?? bytes.count) - start
    return found
  }

  /// Returns how many bytes from a position equal those of the delimiter that follow the matched ones.
  private mutating func matchLength(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let end = min(bytes.count - start, delimiter.readableBytes - matched)
    let length = delimiter.withUnsafeReadableBytes { delimiter in
      (0..<end).first { bytes[start + $0] != delimiter[matched + $0] } ?? end
    }
    comparisons += min(length + 1, end)
    return length
  }
}
