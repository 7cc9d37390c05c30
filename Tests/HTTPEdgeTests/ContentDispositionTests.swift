import HTTPEdge
import Testing

@Suite struct `Names of files (RFC 6266)` {
  @Test(
    "The file name is the last component of the given path",
    arguments: [
      ("attachment", nil), ("inline;", nil), ("attachment; filename=a.png", "a.png"),
      ("attachment; filename=@ü(1).png", "@ü(1).png"),
      ("attachment; filename=\"a b.png\"", "a b.png"), ("form-data; name=x; FileName=\"a;b=c.png\"", "a;b=c.png"),
      ("attachment; filename=\"a\\\"b.png\"", "a\"b.png"), ("attachment; filename=\"../../etc/passwd\"", "passwd"),
      ("attachment; filename=\"C:\\\\photos\\\\a.png\"", "a.png"), ("attachment; filename=\"..\"", nil),
      ("attachment; filename=\"a/\"", "a"), ("attachment; filename=\"/\"", nil),
      ("attachment; filename=\"x.png\"; filename*=UTF-8''F%C3%A4hre.png", "Fähre.png"),
      ("attachment; filename*=utf-8'de'F%C3%A4hre.png", "Fähre.png"),
    ])
  func names(field: String, name: String?) throws {
    #expect(try ContentDisposition.name(in: field) == name)
  }

  @Test(
    "Malformed fields are rejected",
    arguments: [
      "", ";", "attachment filename=a", "attachment; filename", "attachment; filename=", "attachment; filename=\"a",
      "attachment; filename=a; filename=b", "attachment; filename*=a.png", "attachment; filename*=latin1''a",
      "attachment; filename*=UTF-8''%FF", "attachment; filename*=UTF-8''a%00b", "attachment; filename=a b",
      "attachment; filename=\"\(String(repeating: "x", count: 256))\"",
    ])
  func malformed(field: String) {
    #expect(throws: ContentDisposition.Malformed.self) { try ContentDisposition.name(in: field) }
  }

  @Test(
    "A file name is written in a form for all clients, and is escaped",
    arguments: [
      (nil, "inline"), ("a b.png", "inline; filename=\"a b.png\""),
      ("Fähre.png", "inline; filename=\"F_hre.png\"; filename*=UTF-8''F%C3%A4hre.png"),
      ("50%.png", "inline; filename=\"50_.png\"; filename*=UTF-8''50%25.png"),
      ("a\"; x=\"b", "inline; filename=\"a_; x=_b\"; filename*=UTF-8''a%22%3B%20x%3D%22b"),
    ])
  func written(name: String?, field: String) throws {
    #expect(ContentDisposition.inline(name) == field)
    #expect(try ContentDisposition.name(in: field) == name)
  }
}
