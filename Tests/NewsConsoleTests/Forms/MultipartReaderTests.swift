import NIOCore
import NewsConsole
import Testing

@Suite struct `The parts of a form in the body of a request` {
  private static let body = Multipart.bytes(
    """
    --xyz
    Content-Disposition: form-data; name="csrf"

    abc
    --xyz
    Content-Disposition: form-data; name="file"; filename="a.png"
    Content-Type: image/png

    content of a
    --xyz
    Content-Disposition: form-data; name="file"; filename="b.png"

    content of b
    --xyz
    Content-Disposition: form-data; name="file"; filename=""
    Content-Type: application/octet-stream


    --xyz
    Content-Disposition: form-data; name="text"

    two
    lines
    --xyz--
    epilogue
    """)

  private static func reader(_ form: FormRequest, limits: MultipartLimits? = nil) throws(FormError) -> MultipartReader {
    try FormBody.parts(of: form.request, context: form, limits: limits ?? MultipartLimits(totalBytes: 1 << 20))
  }

  /// Reads a whole file, as the storage does.
  private static func content<Pieces: AsyncSequence>(
    _ pieces: Pieces
  ) async throws -> String where Pieces.Element == ByteBuffer {
    var content = ByteBuffer()
    for try await piece in pieces { content.writeImmutableBuffer(piece) }
    return String(buffer: content)
  }

  /// Describes the parts of a form in one text each.
  private static func parts(_ form: FormRequest, limits: MultipartLimits? = nil) async throws -> [String] {
    let reader = try reader(form, limits: limits)
    var parts: [String] = []
    while let part = try await reader.nextPart() {
      switch part {
      case .field(let name, let value): parts.append("\(name): \(value)")
      case .file(let file):
        parts.append("\(file.header.name) \(file.header.fileName ?? "unnamed"): \(try await content(file))")
      }
    }
    #expect(try await reader.nextPart() == nil)
    return parts
  }

  @Test(arguments: [1, 2, 10, 1_000])
  func `Fields and files are read in their order, without files that were not chosen`(length: Int) async throws {
    let form = FormRequest(parts: Self.body.pieces(of: length))
    #expect(
      try await Self.parts(form) == [
        "csrf: abc", "file a.png: content of a", "file b.png: content of b", "text: two\r\nlines",
      ])
    #expect(form.isAwaited && form.isVerified)
  }

  @Test(arguments: [1, 2, 10, 1_000])
  func `A file that is not read, or not to its end, is skipped`(length: Int) async throws {
    let form = FormRequest(parts: Self.body.pieces(of: length))
    let reader = try Self.reader(form)
    var names: [String] = []
    while let part = try await reader.nextPart() {
      switch part {
      case .field(let name, _): names.append(name)
      case .file(let file):
        names.append(file.header.fileName ?? "")
        if names.count == 2 {
          var iterator = file.makeAsyncIterator()
          #expect(try await iterator.next()?.readableBytes ?? 0 > 0)
        }
      }
    }
    #expect(names == ["csrf", "a.png", "b.png", "text"])
    #expect(form.isVerified)
  }

  @Test func `A file without a name is read if it has content`() async throws {
    let header = "Content-Disposition: form-data; name=f; filename=\"\""
    let body = Multipart.body(header: header, content: "a")
    #expect(try await Self.parts(FormRequest(parts: [body])) == ["f unnamed: a"])
    let pieces = Multipart.body(header: header, content: "abc").pieces(of: 1)
    #expect(try await Self.parts(FormRequest(parts: pieces)) == ["f unnamed: abc"])
    #expect(try await Self.parts(FormRequest(parts: [Multipart.body(header: header)])).isEmpty)
  }

  @Test func `The content of a file without a name is not that of the next file if nobody reads it`() async throws {
    let header = "Content-Disposition: form-data; name=f; filename="
    let body = Multipart.bytes("--xyz\n\(header)\"\"\n\na\n--xyz\n\(header)b.txt\n\nb\n--xyz--")
    let reader = try Self.reader(FormRequest(parts: [body]))
    _ = try await reader.nextPart()
    guard case .file(let second) = try await reader.nextPart() else {
      Issue.record("the second part is not a file")
      return
    }
    #expect(try await Self.content(second) == "b")
  }

  @Test func `An empty file with a name is a file`() async throws {
    let header = "Content-Disposition: form-data; name=f; filename=a.txt"
    #expect(try await Self.parts(FormRequest(parts: [Multipart.body(header: header)])) == ["f a.txt: "])
  }

  @Test func `A file stays at its end, and cannot be read after the next part has begun`() async throws {
    let reader = try Self.reader(FormRequest(parts: [Self.body]))
    _ = try await reader.nextPart()
    guard case .file(let first) = try await reader.nextPart() else {
      Issue.record("the second part is not a file")
      return
    }
    #expect(try await Self.content(first) == "content of a")
    #expect(try await Self.content(first) == "")
    guard case .file(let second) = try await reader.nextPart() else {
      Issue.record("the third part is not a file")
      return
    }
    await #expect(throws: MultipartReader.PartHasPassed.self) { _ = try await Self.content(first) }
    #expect(try await Self.content(second) == "content of b")
    while try await reader.nextPart() != nil {}
    await #expect(throws: MultipartReader.PartHasPassed.self) { _ = try await Self.content(second) }
  }

  @Test func `The last part has passed at the end of the form`() async throws {
    let header = "Content-Disposition: form-data; name=f; filename=a.txt"
    let reader = try Self.reader(FormRequest(parts: [Multipart.body(header: header, content: "a")]))
    guard case .file(let file) = try await reader.nextPart() else {
      Issue.record("the part is not a file")
      return
    }
    #expect(try await reader.nextPart() == nil)
    await #expect(throws: MultipartReader.PartHasPassed.self) { _ = try await Self.content(file) }
  }

  @Test func `No more of the body is read than the parts need`() async throws {
    let chunks =
      [Multipart.bytes("--xyz\nContent-Disposition: form-data; name=a\n\nb\n--xyz\n")]
      + [Multipart.bytes("Content-Disposition: form-data; name=f; filename=c\n\n")]
      + Array(repeating: Array("content".utf8), count: 100) + [Multipart.bytes("\n--xyz--")]
    let form = FormRequest(parts: chunks)
    let reader = try Self.reader(form)
    #expect(form.unreadChunks == 103)
    _ = try await reader.nextPart()
    #expect(form.unreadChunks == 102)
    guard case .file(let file) = try await reader.nextPart() else {
      Issue.record("the second part is not a file")
      return
    }
    #expect(form.unreadChunks == 101)
    var iterator = file.makeAsyncIterator()
    for _ in 0..<10 { _ = try await iterator.next() }
    #expect(form.unreadChunks == 91)
    #expect(try await reader.nextPart() == nil)
    #expect(form.unreadChunks == 0)
    #expect(form.isVerified)
  }

  @Test func `A body that ends within a file is an error for its reader`() async throws {
    let chunks = [Multipart.bytes("--xyz\nContent-Disposition: form-data; name=f; filename=c\n\nabc\n")]
    for form in [
      FormRequest(parts: chunks), FormRequest(parts: chunks, endsEarly: true), FormRequest(parts: chunks, fails: true),
    ] {
      let reader = try Self.reader(form)
      guard case .file(let file) = try await reader.nextPart() else {
        Issue.record("the part is not a file")
        return
      }
      await #expect(throws: FormError.truncated) { _ = try await Self.content(file) }
      await #expect(throws: FormError.truncated) { _ = try await reader.nextPart() }
    }
  }

  @Test func `A body whose connection ends after the last delimiter is an error`() async throws {
    let reader = try Self.reader(FormRequest(parts: [Self.body], endsEarly: true))
    for _ in 1...4 { #expect(try await reader.nextPart() != nil) }
    await #expect(throws: FormError.truncated) { _ = try await reader.nextPart() }
    await #expect(throws: FormError.truncated) { _ = try await reader.nextPart() }
  }

  @Test func `Values that are not UTF-8 are refused`() async throws {
    let body =
      Multipart.bytes("--xyz\nContent-Disposition: form-data; name=a\n\n") + [0xE4] + Multipart.bytes("\n--xyz--")
    await #expect(throws: FormError.notUTF8) { _ = try await Self.parts(FormRequest(parts: [body])) }
  }

  @Test func `Values with more than 30 combining marks in a row are refused`() async throws {
    func body(_ count: Int) -> [UInt8] {
      Multipart.bytes("--xyz\nContent-Disposition: form-data; name=a\n\ne")
        + Array(repeating: [0xCC, 0x81], count: count).joined() + Multipart.bytes("\n--xyz--")
    }
    _ = try await Self.parts(FormRequest(parts: [body(30)]))
    await #expect(throws: FormError.tooManyMarks) { _ = try await Self.parts(FormRequest(parts: [body(31)])) }
  }

  @Test func `Limits end the form`() async throws {
    var limits = MultipartLimits(totalBytes: Self.body.count - 1)
    for length in [1, 1_000] {
      let form = FormRequest(parts: Self.body.pieces(of: length))
      await #expect(throws: FormError.bodyTooLarge) { _ = try await Self.parts(form, limits: limits) }
    }
    limits.totalBytes = Self.body.count
    limits.fieldBytes = 9
    let form = FormRequest(parts: [Self.body])
    await #expect(throws: FormError.valueTooLong) { _ = try await Self.parts(form, limits: limits) }
    limits.fieldBytes = 10
    #expect(try await Self.parts(FormRequest(parts: [Self.body]), limits: limits).count == 4)
  }
}
