import NIOCore
import NewsConsole
import Testing

/// A part of a form with its whole content.
struct ParsedPart: Hashable {
  var header: PartHeader
  var content: [UInt8]

  init(_ header: PartHeader, _ content: [UInt8]) {
    self.header = header
    self.content = content
  }

  /// A field that is not a file.
  init(_ name: String, _ value: String) {
    self.init(PartHeader(name: name), Array(value.utf8))
  }
}

/// Multipart bodies for tests.
enum Multipart {
  /// Returns a text with CR LF as its line ends.
  static func bytes(_ text: String) -> [UInt8] {
    text.utf8.flatMap { $0 == 10 ? [13, 10] : [$0] }
  }

  static func boundary(_ text: String) throws(FormError) -> MultipartBoundary {
    try MultipartBoundary(contentType: "multipart/form-data; boundary=\"\(text)\"")
  }

  /// Returns the body of a form with one part, whose boundary is `xyz`.
  ///
  /// - Parameter header: The lines of the header, separated by line feeds.
  static func body(header: String, content: String = "") -> [UInt8] {
    bytes("--xyz\n\(header)\n\n") + Array(content.utf8) + bytes("\n--xyz--\n")
  }

  static func parts(
    _ chunks: some Sequence<[UInt8]>, boundary: String = "xyz", limits: MultipartLimits? = nil
  ) throws(FormError) -> [ParsedPart] {
    try parts(chunks, boundary: Self.boundary(boundary), limits: limits)
  }

  /// Parses a body that arrives in these chunks, and checks the order of the events and the memory of the parser.
  ///
  /// - Parameter limits: By default, those of a body of 1 MiB.
  static func parts(
    _ chunks: some Sequence<[UInt8]>, boundary: MultipartBoundary, limits: MultipartLimits? = nil
  ) throws(FormError) -> [ParsedPart] {
    let limits = limits ?? MultipartLimits(totalBytes: 1 << 20)
    // A delimiter has four bytes besides the boundary.
    let memory = max(limits.headerBytes, 4 + 70)
    var parser = MultipartParser(boundary: boundary, limits: limits)
    var parts: [ParsedPart] = []
    var isInPart = false
    var isFinished = false
    for chunk in chunks {
      try parser.append(ByteBuffer(bytes: chunk))
      while let event = try parser.next() {
        #expect(!isFinished)
        switch event {
        case .partBegan(let header):
          #expect(!isInPart)
          parts.append(ParsedPart(header, []))
        case .data(let bytes):
          #expect(isInPart && bytes.readableBytes > 0)
          parts[parts.count - 1].content += bytes.readableBytesView
          continue
        case .partEnded: #expect(isInPart)
        case .finished:
          #expect(!isInPart)
          isFinished = true
        }
        isInPart = !isInPart && !isFinished
      }
      #expect(parser.heldBytes <= memory)
    }
    try parser.finish()
    #expect(isFinished && !isInPart)
    return parts
  }

  /// Returns the parsed header of a part.
  ///
  /// - Parameter lines: The lines of the header, separated by line feeds.
  static func header(_ lines: String, limits: MultipartLimits? = nil) throws(FormError) -> PartHeader? {
    try parts([body(header: lines)], limits: limits).first?.header
  }
}

extension Array {
  /// Splits an array into pieces of equal length, the last of which may be shorter.
  func pieces(of length: Int) -> [[Element]] {
    stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
  }
}
