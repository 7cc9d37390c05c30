import NIOCore
import NewsConsole
import Testing

@Suite struct `Limits of forms with files` {
  private static let field = "Content-Disposition: form-data; name=a"
  private static let file = field + "; filename=b"

  /// Checks that a body of at most a length is accepted, however it arrives, and that a longer one is refused.
  ///
  /// - Parameter make: A function that makes a body of a length.
  private static func check(
    _ limits: MultipartLimits, upTo length: Int, _ error: FormError, _ make: (Int) -> [UInt8]
  ) throws {
    for size in [1, 1_000, .max] {
      func pieces(_ body: [UInt8]) -> [[UInt8]] { body.pieces(of: min(size, body.count)) }
      _ = try Multipart.parts(pieces(make(length)), limits: limits)
      #expect(throws: error) { try Multipart.parts(pieces(make(length + 1)), limits: limits) }
    }
  }

  private static func text(_ length: Int) -> String { String(repeating: "x", count: length) }

  @Test func `The defaults`() {
    let limits = MultipartLimits(totalBytes: 3)
    #expect(limits.totalBytes == 3)
    #expect(limits.parts == 64)
    #expect(limits.headerBytes == 8_192)
    #expect(limits.nameBytes == 255)
    #expect(limits.fieldBytes == 1_048_576)
    #expect(limits.totalFieldBytes == 4_194_304)
    #expect(limits.preambleBytes == 1_024)
  }

  @Test func `The number of parts is limited`() throws {
    var limits = MultipartLimits(totalBytes: 1 << 20)
    limits.parts = 3
    try Self.check(limits, upTo: 3, .tooManyParts) { count in
      Multipart.bytes(String(repeating: "--xyz\n\(Self.field)\n\nb\n", count: count) + "--xyz--")
    }
  }

  @Test func `The length of a header is limited, with its padding, its line ends and fields that are ignored`() throws {
    var limits = MultipartLimits(totalBytes: 1 << 20)
    limits.headerBytes = 100
    // Besides the text: three line ends with the delimiter's, and another one if there is another field.
    try Self.check(limits, upTo: 100 - 6 - Self.field.utf8.count, .partHeaderTooLong) { length in
      Multipart.bytes("--xyz" + String(repeating: " ", count: length) + "\n\(Self.field)\n\nb\n--xyz--")
    }
    try Self.check(limits, upTo: 100 - 8 - 2 - Self.field.utf8.count, .partHeaderTooLong) { length in
      Multipart.body(header: "\(Self.field)\nX:\(Self.text(length))", content: "b")
    }
    // It is that of each header by itself.
    let body = Multipart.bytes(String(repeating: "--xyz\n\(Self.field)\n\nb\n", count: 3) + "--xyz--")
    #expect(try Multipart.parts([body], limits: limits).count == 3)
  }

  @Test func `A header without an end holds no more memory than its limit`() throws {
    var parser = MultipartParser(boundary: try Multipart.boundary("xyz"), limits: MultipartLimits(totalBytes: 1 << 30))
    var held = 0
    try parser.append(ByteBuffer(string: "--xyz\r\n"))
    #expect(try parser.next() == nil)
    #expect(throws: FormError.partHeaderTooLong) {
      for _ in 0..<100 {
        try parser.append(ByteBuffer(string: Self.text(1_000)))
        _ = try parser.next()
        held = max(held, parser.heldBytes)
      }
    }
    #expect((7_000...8_192).contains(held))
    #expect(parser.heldBytes == 0)
  }

  @Test func `The length of a name is limited`() throws {
    let limits = MultipartLimits(totalBytes: 1 << 20)
    try Self.check(limits, upTo: 255, .nameTooLong) {
      Multipart.body(header: "Content-Disposition: form-data; name=\(Self.text($0))")
    }
  }

  @Test func `The length of a field is limited, but not that of a file`() throws {
    var limits = MultipartLimits(totalBytes: 1 << 20)
    limits.fieldBytes = 2_000
    try Self.check(limits, upTo: 2_000, .valueTooLong) { Multipart.body(header: Self.field, content: Self.text($0)) }
    let body = Multipart.body(header: Self.file, content: Self.text(3_000))
    #expect(try Multipart.parts([body], limits: limits).first?.content.count == 3_000)
  }

  @Test func `The length of all fields together is limited, without that of files`() throws {
    var limits = MultipartLimits(totalBytes: 1 << 20)
    limits.totalFieldBytes = 1_500
    try Self.check(limits, upTo: 900, .valueTooLong) { length in
      let parts = [(Self.field, 600), (Self.file, 2_000), (Self.field, length)]
      return Multipart.bytes(parts.map { "--xyz\n\($0)\n\n\(Self.text($1))\n" }.joined() + "--xyz--")
    }
  }

  @Test func `The length of a preamble is limited`() throws {
    let limits = MultipartLimits(totalBytes: 1 << 20)
    try Self.check(limits, upTo: 1_024, .malformedParts) {
      Array((Self.text($0) + "\r\n--xyz--").utf8)
    }
  }

  @Test func `The length of the body is limited, with its epilogue`() throws {
    let limits = MultipartLimits(totalBytes: 100)
    try Self.check(limits, upTo: 100, .bodyTooLarge) { length in
      Array("--xyz--".utf8) + Array(Self.text(length - 7).utf8)
    }
    try Self.check(limits, upTo: 100 - Multipart.body(header: Self.file).count, .bodyTooLarge) {
      Multipart.body(header: Self.file, content: Self.text($0))
    }
  }
}
