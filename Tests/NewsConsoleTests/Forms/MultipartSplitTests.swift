import NIOCore
import NewsConsole
import Testing

@Suite struct `Forms in any pieces` {
  private static let longBody = Multipart.bytes(
    """
    preamble
    --xyz \t
    Content-Disposition: form-data; name="a"

    --xyz
    X: y
    Content-Disposition: form-data; name="b"; filename="%22é.png"
    Content-Type: image/png

    é
    --xy-

    --xyz--
    --xyz!
    """)

  private static let bodies = [
    Multipart.bytes("--xyz--\n"),
    Multipart.body(header: "Content-Disposition: form-data; name=a", content: "b"),
    Multipart.body(header: "Content-Disposition: form-data; name=a", content: "\r\n--xy\r\r\n-\r\n--xy--\r"),
    longBody,
  ]

  @Test(arguments: bodies)
  func `Every split into two or three pieces gives the same parts`(body: [UInt8]) async throws {
    let whole = try Multipart.parts([body])
    for first in 0...body.count {
      // Tests share the threads with servers of other tests, which must answer in time.
      await Task.yield()
      for second in stride(from: first, through: body.count, by: body.count > 130 ? 17 : 1) {
        let pieces = [body[..<first], body[first..<second], body[second...]].map { Array($0) }
        #expect(try Multipart.parts(pieces) == whole, "\(first) and \(second)")
      }
    }
  }

  @Test(arguments: bodies, [1, 2, 3, 5, 64])
  func `Pieces of equal length give the same parts`(body: [UInt8], length: Int) throws {
    #expect(try Multipart.parts(body.pieces(of: length)) == Multipart.parts([body]))
  }

  @Test func `Every split of a malformed body gives the same error`() throws {
    let body = Multipart.body(header: "Content-Disposition: form-data; name=a", content: "b\r\n--xyz-\r\n")
    for split in 0...body.count {
      #expect(throws: FormError.malformedParts, "\(split)") {
        try Multipart.parts([Array(body[..<split]), Array(body[split...])])
      }
    }
  }

  @Test(
    "The search for delimiters is linear, even if everything resembles one",
    arguments: [
      "\r\n--boundar", "\r", "\r\n", "\r\n-", "\r\r\n--", "\n--boundary", "a", "\r\n--boundarY", "\r--boundary",
      "\r\n--\r\n--boundar",
    ])
  func linear(unit: String) throws {
    let header = "--boundary\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n"
    let content = Array(String(repeating: unit, count: 40_000 / unit.utf8.count).utf8)
    let body = Array(header.utf8) + content + Array("\r\n--boundary--".utf8)
    for length in [1, 7, 1_000, body.count] {
      var parser = MultipartParser(
        boundary: try Multipart.boundary("boundary"), limits: MultipartLimits(totalBytes: body.count))
      var parsed: [UInt8] = []
      var events = 0
      let pieces = body.pieces(of: length)
      for piece in pieces {
        try parser.append(ByteBuffer(bytes: piece))
        while let event = try parser.next() {
          events += 1
          if case .data(let bytes) = event { parsed += bytes.readableBytesView }
        }
      }
      try parser.finish()
      #expect(parsed == content)
      #expect(parser.comparisons >= content.count)
      #expect(parser.comparisons <= 3 * body.count)
      // Besides the content, a piece can add the beginning of a delimiter that has ended the piece before.
      #expect(events <= 2 * pieces.count + 3)
    }
  }

  @Test func `A header can arrive byte by byte`() throws {
    let header = "Content-Disposition: form-data; name=a\nX: \(String(repeating: "x", count: 8_000))"
    #expect(try Multipart.parts(Multipart.body(header: header).pieces(of: 1)) == [ParsedPart("a", "")])
  }
}
