import NIOCore
import NewsConsole
import Testing

@Suite struct `Parts of a form (RFC 7578, RFC 2046 section 5.1)` {
  @Test func `The example of RFC 1867 has a field and a file`() throws {
    let body = Multipart.bytes(
      """
      --AaB03x
      content-disposition: form-data; name="field1"

      Joe Blow
      --AaB03x
      content-disposition: form-data; name="pics"; filename="file1.txt"
      Content-Type: text/plain

       ... contents of file1.txt ...
      --AaB03x--

      """)
    #expect(
      try Multipart.parts([body], boundary: "AaB03x") == [
        ParsedPart("field1", "Joe Blow"),
        ParsedPart(
          PartHeader(name: "pics", isFile: true, fileName: "file1.txt", mediaType: "text/plain"),
          Array(" ... contents of file1.txt ...".utf8)),
      ])
  }

  @Test func `Content is taken as it is, whatever its charset and encoding (RFC 7578 sections 4.5 and 4.7)`() throws {
    let body = Multipart.bytes(
      """
      --AaB03x
      content-disposition: form-data; name="field1"
      content-type: text/plain;charset=UTF-8
      content-transfer-encoding: quoted-printable

      Joe owes =E2=82=AC100.
      --AaB03x--
      """)
    let header = PartHeader(name: "field1", mediaType: "text/plain")
    #expect(
      try Multipart.parts([body], boundary: "AaB03x") == [ParsedPart(header, Array("Joe owes =E2=82=AC100.".utf8))])
  }

  @Test func `Preamble, epilogue, padding and line ends are as in RFC 2046 section 5.1.1`() throws {
    let body = Multipart.bytes(
      """
      This is the preamble.  It is to be ignored, though it
      is a handy place for composition agents to include an
      explanatory note to non-MIME conformant readers.

      --simple boundary\t
      Content-Disposition: form-data; name=first

      This is implicitly typed plain US-ASCII text.
      It does NOT end with a linebreak.
      --simple boundary \t\u{20}
      Content-type: text/plain; charset=us-ascii
      Content-Disposition: form-data; name=second

      This is explicitly typed plain US-ASCII text.
      It DOES end with a linebreak.

      --simple boundary-- \t

      This is the epilogue.  It is also to be ignored.
      --simple boundary
      """)
    let parts = try Multipart.parts([body], boundary: "simple boundary")
    let second = "This is explicitly typed plain US-ASCII text.\r\nIt DOES end with a linebreak.\r\n"
    #expect(
      parts == [
        ParsedPart(
          "first", "This is implicitly typed plain US-ASCII text.\r\nIt does NOT end with a linebreak."),
        ParsedPart(PartHeader(name: "second", mediaType: "text/plain"), Array(second.utf8)),
      ])
  }

  @Test func `The bytes of Chromium`() throws {
    let body =
      Multipart.bytes(
        """
        ------WebKitFormBoundary7MA4YWxkTrZu0gW
        Content-Disposition: form-data; name="title"

        Fähre läuft aus
        ------WebKitFormBoundary7MA4YWxkTrZu0gW
        Content-Disposition: form-data; name="picture"; filename="F%22\u{E4}hre\\1.png"
        Content-Type: image/png


        """) + [0x89, 0x50, 0x4E, 0x47, 13, 10, 0x1A, 10, 0, 13]
      + Multipart.bytes("\n------WebKitFormBoundary7MA4YWxkTrZu0gW--\n")
    #expect(
      try Multipart.parts([body], boundary: "----WebKitFormBoundary7MA4YWxkTrZu0gW") == [
        ParsedPart("title", "Fähre läuft aus"),
        ParsedPart(
          PartHeader(name: "picture", isFile: true, fileName: "1.png", mediaType: "image/png"),
          [0x89, 0x50, 0x4E, 0x47, 13, 10, 0x1A, 10, 0, 13]),
      ])
  }

  @Test func `The bytes of Firefox, with an empty field and no chosen file`() throws {
    let body = Multipart.bytes(
      """
      -----------------------------33747796342364123171293107226
      Content-Disposition: form-data; name="a%0D%0Ab%22"


      -----------------------------33747796342364123171293107226
      Content-Disposition: form-data; name="file"; filename=""
      Content-Type: application/octet-stream


      -----------------------------33747796342364123171293107226--

      """)
    #expect(
      try Multipart.parts([body], boundary: "---------------------------33747796342364123171293107226") == [
        ParsedPart("a\r\nb\"", ""),
        ParsedPart(PartHeader(name: "file", isFile: true, mediaType: "application/octet-stream"), []),
      ])
  }

  @Test func `A form without fields is the last delimiter alone`() throws {
    #expect(try Multipart.parts([Multipart.bytes("--xyz--\n")]).isEmpty)
    #expect(try Multipart.parts([Multipart.bytes("--xyz--")]).isEmpty)
  }

  @Test(
    "The line end after the header can be that of the next delimiter",
    arguments: [
      ("", [""]), ("\n", [""]), ("\n\n", ["\r\n"]), ("-\n", ["-"]), ("--xy\n", ["--xy"]), ("\n--xy\n", ["\r\n--xy"]),
      ("\r\r\n", ["\r\r"]), ("\n\r\n", ["\r\n\r"]), ("\n--xy\n--xy\n", ["\r\n--xy\r\n--xy"]),
    ])
  func lineEnds(content: String, values: [String]) throws {
    let body = Multipart.bytes("--xyz\nContent-Disposition: form-data; name=a\n\n\(content)--xyz--")
    let parts = try Multipart.parts([body])
    #expect(parts.map(\.content) == values.map { Array($0.utf8) })
    #expect(try Multipart.parts(body.pieces(of: 1)) == parts)
  }

  @Test(
    "Malformed bodies are refused",
    arguments: [
      ("--xyz", .truncated), ("--xyz-", .truncated), ("--xyz\n", .truncated), ("", .truncated), ("xyz", .truncated),
      ("--xy", .truncated), ("--xyz\nContent-Disposition: form-data; name=a\n", .truncated),
      ("--xyz\nContent-Disposition: form-data; name=a\n\nb", .truncated),
      ("--xyz\nContent-Disposition: form-data; name=a\n\nb\n--xyz", .truncated),
      ("--xyz\nContent-Disposition: form-data; name=a\n\nb\n--xyz\n", .truncated),
      ("--xyzx\n", .malformedParts), ("--xyz x\n", .malformedParts), ("--xyz-\n", .malformedParts),
      ("--xyz -", .malformedParts), ("--xyz\rx", .malformedParts), ("--xyz\n\n\n--xyz--", .malformedParts),
      ("--xyz\nContent-Type: text/plain\n\nb\n--xyz--", .malformedParts),
      ("--xyz\nContent-Disposition: form-data; name=a\n\nb\n--xyza", .malformedParts),
    ] as [(String, FormError)])
  func malformed(body: String, error: FormError) throws {
    let bytes = Multipart.bytes(body)
    #expect(throws: error) { try Multipart.parts([bytes]) }
    #expect(throws: error) { try Multipart.parts(bytes.pieces(of: 1)) }
  }

  @Test func `Lines of a header end with CR LF`() throws {
    for lineEnd in ["\n", "\r", "\r\r\n", "\n\r"] {
      let body = "--xyz\r\nContent-Disposition: form-data; name=ab\(lineEnd)X: y\r\n\r\nb\r\n--xyz--"
      #expect(throws: FormError.malformedParts) { try Multipart.parts([Array(body.utf8)]) }
    }
  }

  @Test func `An error is final`() throws {
    var parser = MultipartParser(boundary: try Multipart.boundary("xyz"), limits: MultipartLimits(totalBytes: 100))
    try parser.append(ByteBuffer(string: "--xyz!"))
    #expect(throws: FormError.malformedParts) { try parser.next() }
    #expect(throws: FormError.malformedParts) { try parser.next() }
    #expect(throws: FormError.malformedParts) { try parser.append(ByteBuffer(string: "\r\n")) }
    #expect(throws: FormError.malformedParts) { try parser.finish() }
  }

  @Test func `A part has ended only when its delimiter is complete`() throws {
    var parser = MultipartParser(boundary: try Multipart.boundary("xyz"), limits: MultipartLimits(totalBytes: 1_000))
    func events(_ text: String) throws -> [MultipartParser.Event] {
      try parser.append(ByteBuffer(string: text))
      var events: [MultipartParser.Event] = []
      while let event = try parser.next() { events.append(event) }
      return events
    }
    #expect(
      try events("--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r") == [
        .partBegan(PartHeader(name: "a")), .data(ByteBuffer(string: "b")),
      ])
    #expect(parser.heldBytes == 1)
    #expect(try events("\n--xy").isEmpty)
    #expect(parser.heldBytes == 6)
    #expect(try events("z-").isEmpty)
    #expect(throws: FormError.truncated) {
      var copy = parser
      try copy.finish()
    }
    #expect(try events("-more\r\n--xyz\r\n") == [.partEnded, .finished])
    try parser.finish()
    #expect(try events("--xyz!").isEmpty)
    try parser.finish()
  }

  @Test func `Input can be added before the earlier input was parsed`() throws {
    var parser = MultipartParser(boundary: try Multipart.boundary("xyz"), limits: MultipartLimits(totalBytes: 1_000))
    for piece in Multipart.body(header: "Content-Disposition: form-data; name=a").pieces(of: 7) {
      try parser.append(ByteBuffer(bytes: piece))
    }
    var events: [MultipartParser.Event] = []
    while let event = try parser.next() { events.append(event) }
    #expect(events == [.partBegan(PartHeader(name: "a")), .partEnded, .finished])
  }
}
