import NewsConsole
import Testing

@Suite struct `Headers of parts (RFC 7578 section 4)` {
  private static func file(_ disposition: String) throws(FormError) -> PartHeader? {
    try Multipart.header("Content-Disposition: form-data; name=f; filename=\(disposition)")
  }

  @Test(
    "The name of a field is unescaped as browsers escape it",
    arguments: [
      ("\"title\"", "title"), ("title", "title"), ("\"\"", ""), ("\"a%22b\"", "a\"b"), ("\"%0D%0A\"", "\r\n"),
      ("\"%0d%41%2%\"", "%0d%41%2%"), ("\"%%22\"", "%\""), ("\"a\\b\"", "a\\b"), ("\"a;b=c\"", "a;b=c"),
      ("\"Überschrift\"", "Überschrift"), ("\"\\\"", "\\"), ("\"%2522\"", "%2522"),
    ])
  func names(parameter: String, name: String) throws {
    let header = try Multipart.header("Content-Disposition: form-data; name=\(parameter)")
    #expect(header.map { Array($0.name.utf8) } == Array(name.utf8))
    #expect(header?.isFile == false)
  }

  @Test(
    "A file name is the last component of the given path, on one line, without hidden characters",
    arguments: [
      ("a.png", "a.png"), ("\"a b.png\"", "a b.png"), ("\"Fähre 😀.png\"", "Fähre 😀.png"),
      ("\"../../etc/passwd\"", "passwd"), ("\"/etc/passwd\"", "passwd"), ("\"C:\\photos\\a.png\"", "a.png"),
      ("\"C:\\fakepath\\..\\a.png\"", "a.png"), ("\"a/\"", "a"), ("\"..\\\"", nil), ("\"..\"", nil), ("\".\"", nil),
      ("\"/\"", nil), ("\"\"", nil), ("\" . \"", nil), ("\"\u{3000}\"", nil), ("\".profile\"", ".profile"),
      ("\"a%22b.png\"", "a\"b.png"), ("\"a%0D%0Ab.png\"", "a b.png"), ("\"a\0b.png\"", "ab.png"),
      ("\".\0./x\"", "x"), ("\".\0.\"", nil), ("\"a\u{1B}[31m.png\"", "a[31m.png"), ("\"\u{7F}\u{85}a\"", "a"),
      ("\"\u{202E}gnp.exe\"", "gnp.exe"), ("\"\u{2066}a\u{2069}\"", "a"), ("\"\u{FEFF}a.png \"", "a.png"),
      ("\"a%2Fb\"", "a%2Fb"), ("\"%2e%2e%5C\"", "%2e%2e%5C"), ("\"<script>.png\"", "<script>.png"),
      ("\"a\tb\"", "a b"), ("\"..%0A\"", nil),
    ] as [(String, String?)])
  func fileNames(parameter: String, name: String?) throws {
    let header = try Self.file(parameter)
    #expect(header?.isFile == true)
    #expect(header?.fileName == name)
  }

  @Test func `A long file name is shortened before its extension`() throws {
    let accents = String(repeating: "ä", count: 200)
    #expect(try Self.file("\"\(accents).png\"")?.fileName == String(accents.prefix(125)) + ".png")
    #expect(try Self.file("\"\(accents)\"")?.fileName == String(accents.prefix(127)))
    let exact = String(repeating: "a", count: 251) + ".png"
    #expect(try Self.file("\"\(exact)\"")?.fileName == exact)
    let noExtension = "a." + String(repeating: "b", count: 300)
    #expect(try Self.file("\"\(noExtension)\"")?.fileName == String(noExtension.prefix(255)))
    let combined = "a" + String(repeating: "\u{301}", count: 400)
    #expect(try Self.file("\"\(combined)\"")?.fileName?.utf8.count == 255)
  }

  @Test(
    "The declared type has no parameters, and is absent if it is malformed",
    arguments: [
      ("image/png", "image/png"), ("Image/PNG; x=\"a;b\"", "image/png"), (" text/plain;charset=utf-8", "text/plain"),
      ("", nil), ("image", nil), ("image/", nil), ("/png", nil), ("a/b/c", nil), ("image/png; x", nil), ("a b", nil),
    ] as [(String, String?)])
  func types(value: String, type: String?) throws {
    let header = try Multipart.header("Content-Disposition: form-data; name=f; filename=a\nCONTENT-TYPE:\(value)")
    #expect(header?.mediaType == type)
  }

  @Test(
    "Malformed headers are refused",
    arguments: [
      "Content-Disposition: form-data", "Content-Disposition: form-data; name", "Content-Disposition: form-data; name=",
      "Content-Disposition: form-data; name=\"a", "Content-Disposition: form-data; name=\"a\"b",
      "Content-Disposition: form-data; name=\"a\\\"b\"", "Content-Disposition: form-data; name=a; name=b",
      "Content-Disposition: form-data; name=a; NAME=a",
      "Content-Disposition: form-data; name=a; filename=b; filename=c",
      "Content-Disposition: attachment; name=a", "Content-Disposition: name=a", "Content-Disposition:",
      "Content-Disposition: form-data; name=a b", "Content-Disposition: form-data, name=a",
      "Content-Disposition: form-data; name=a\nContent-Disposition: form-data; name=a", "Content-Disposition",
      "Content-Disposition : form-data; name=a", "Content-Disposition: form-data;\n name=a", ": form-data; name=a",
      "Content-Disposition: form-data; name=a\n--xyz", "Content-Disposition: form-data; name=a\nÜ: b",
      "X: Content-Disposition: form-data; name=a", "Content-Disposition: form-data; filename=a",
    ])
  func malformed(lines: String) {
    #expect(throws: FormError.malformedParts) { try Multipart.header(lines) }
  }

  @Test func `Other fields and parameters are ignored`() throws {
    let header = try Multipart.header(
      "X: y\nContent-Disposition: FORM-DATA; x=y; Name=a; filename*=UTF-8''b.png;\nContent-Transfer-Encoding: 8bit")
    #expect(header == PartHeader(name: "a"))
  }

  @Test func `Names that are not UTF-8 are refused`() {
    for parameter in ["name=\"", "name=a; filename=\""] {
      let body =
        Multipart.bytes("--xyz\nContent-Disposition: form-data; \(parameter)") + [0xE4]
        + Multipart.bytes("\"\n\nb\n--xyz--")
      #expect(throws: FormError.notUTF8) { try Multipart.parts([body]) }
    }
  }
}
