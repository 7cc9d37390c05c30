import Foundation
import NewsConsole
import TestKit
import Testing

@Suite struct `Forms of random bytes` {
  private static let boundaryCharacters = Array(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'()+_,-./:=? ".utf8)
  private static let names = ["", "a", "title", "Fähre", "a\"b", "a\r\nb", "a\\", "a;b=c", "%41", "😀"]
  private static let fileNames = [
    "a.png", "../../a.png", "C:\\a.png", "\"a\".png", "a\u{202E}gnp.exe", "a\0.png", "..", "", "\r\n", "/", "Fähre.jpg",
    String(repeating: "ä", count: 150) + ".png",
  ]

  /// A form, with what it must be read as.
  private struct Form {
    var boundary: String
    var body: [UInt8]
    var parts: [ParsedPart]
  }

  private static func boundary(using generator: inout SplitMix64) -> String {
    var bytes = (0..<Int.random(in: 1...70, using: &generator)).map { _ in
      boundaryCharacters.randomElement(using: &generator) ?? 0
    }
    if bytes.last == 32 { bytes[bytes.count - 1] = 45 }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns content that resembles delimiters, but has none.
  private static func content(_ boundary: String, using generator: inout SplitMix64) -> [UInt8] {
    let delimiter = Array("\r\n--\(boundary)".utf8)
    var content: [UInt8] = []
    for _ in 0..<Int.random(in: 0...8, using: &generator) {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: content += [13, 10]
      case 1: content += [13]
      case 2: content += delimiter.prefix(Int.random(in: 0..<delimiter.count, using: &generator))
      case 3: content += delimiter.dropFirst(Int.random(in: 0..<delimiter.count, using: &generator))
      case 4: content += "Die Fähre läuft aus.".utf8
      default: content += (0..<20).map { _ in .random(in: .min ... .max, using: &generator) }
      }
    }
    // A delimiter needs a line end before it, which can be that of the header.
    let isFree = Data([13, 10] + content + [13, 10]).range(of: Data(delimiter)) == nil
    return isFree ? content : []
  }

  /// Returns a value as browsers write it in a header.
  private static func escaped(_ value: String) -> String {
    String(
      value.unicodeScalars.flatMap { scalar -> [Character] in
        switch scalar {
        case "\"": Array("%22")
        case "\r": Array("%0D")
        case "\n": Array("%0A")
        default: [Character(scalar)]
        }
      })
  }

  private static func form(using generator: inout SplitMix64) throws -> Form {
    var form = Form(boundary: boundary(using: &generator), body: [], parts: [])
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      let name = names.randomElement(using: &generator) ?? ""
      var header = "Content-Disposition: form-data; name=\"\(escaped(name))\""
      var expected = PartHeader(name: name)
      if Bool.random(using: &generator) {
        let fileName = fileNames.randomElement(using: &generator) ?? ""
        header += "; filename=\"\(escaped(fileName))\"\r\nContent-Type: image/png"
        // Another test compares the names of files; this one, that they are the same in all forms.
        let alone = try Multipart.header("Content-Disposition: form-data; name=a; filename=\"\(escaped(fileName))\"")
        (expected.isFile, expected.fileName, expected.mediaType) = (true, alone?.fileName, "image/png")
      }
      let content = content(form.boundary, using: &generator)
      form.body += Array("--\(form.boundary)\r\n\(header)\r\n\r\n".utf8) + content + [13, 10]
      form.parts.append(ParsedPart(expected, content))
    }
    form.body += Array("--\(form.boundary)--\r\n".utf8)
    return form
  }

  private static func pieces(_ body: [UInt8], using generator: inout SplitMix64) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = body[...]
    let longest = [1, 3, 20, 200].randomElement(using: &generator) ?? 1
    let shortest = longest == 1 ? 1 : 0
    while !rest.isEmpty {
      pieces.append(Array(rest.prefix(Int.random(in: shortest...longest, using: &generator))))
      rest = rest.dropFirst(pieces.last?.count ?? 0)
    }
    return pieces
  }

  /// Changes some bytes of a body.
  private static func spoil(_ body: inout [UInt8], using generator: inout SplitMix64) {
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let place = Int.random(in: 0...body.count, using: &generator)
      let length = Int.random(in: 0...min(20, body.count - place), using: &generator)
      let source = Int.random(in: 0...body.count - length, using: &generator)
      let other = Array(body[source..<source + length])
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: body.removeSubrange(place..<place + length)
      case 1: body.insert(contentsOf: other, at: place)
      case 2: body.insert(.random(in: .min ... .max, using: &generator), at: place)
      case 3: body.replaceSubrange(place..<place + length, with: other)
      default: body.removeLast(min(length, body.count))
      }
    }
  }

  @Test func `Random forms are read as they were written`() async throws {
    var generator = SplitMix64(seed: 7578)
    for number in 0..<rounds(5_000) {
      // Tests share the threads with servers of other tests, which must answer in time.
      if number % 50 == 0 { await Task.yield() }
      let form = try Self.form(using: &generator)
      let pieces = Self.pieces(form.body, using: &generator)
      #expect(try Multipart.parts(pieces, boundary: form.boundary) == form.parts, "\(number)")
    }
  }

  @Test func `Spoiled forms give the same result in any pieces, and stay within the limits`() async throws {
    var generator = SplitMix64(seed: 2046)
    var limits = MultipartLimits(totalBytes: 1 << 20)
    (limits.parts, limits.headerBytes, limits.fieldBytes, limits.preambleBytes) = (3, 300, 150, 50)
    var errors: [FormError: Int] = [:]
    var accepted = 0
    for number in 0..<rounds(5_000) {
      if number % 50 == 0 { await Task.yield() }
      var form = try Self.form(using: &generator)
      Self.spoil(&form.body, using: &generator)
      let whole = Self.outcome([form.body], form.boundary, limits)
      let pieces = Self.pieces(form.body, using: &generator)
      #expect(Self.outcome(pieces, form.boundary, limits) == whole, "\(number)")
      switch whole {
      case .success(let parts):
        accepted += 1
        #expect(parts.count <= 3)
        #expect(parts.reduce(0) { $0 + $1.content.count } < form.body.count)
        #expect(parts.allSatisfy { $0.header.isFile || $0.content.count <= 150 })
        #expect(parts.allSatisfy { Self.isSafe($0.header.fileName ?? "") })
      case .failure(let error): errors[error, default: 0] += 1
      }
    }
    #expect(accepted > rounds(500))
    let expected: Set<FormError> = [
      .malformedParts, .truncated, .notUTF8, .tooManyParts, .partHeaderTooLong, .valueTooLong,
    ]
    #expect(Set(errors.keys) == expected)
  }

  private static func outcome(
    _ pieces: [[UInt8]], _ boundary: String, _ limits: MultipartLimits
  ) -> Result<[ParsedPart], FormError> {
    do {
      return .success(try Multipart.parts(pieces, boundary: boundary, limits: limits))
    } catch {
      return .failure(error)
    }
  }

  private static func isSafe(_ fileName: String) -> Bool {
    fileName.utf8.count <= 255 && fileName != ".." && fileName != "."
      && fileName.unicodeScalars.allSatisfy {
        $0 != "/" && $0 != "\\" && $0 != "\u{202E}" && $0.properties.generalCategory != .control
      }
  }
}
