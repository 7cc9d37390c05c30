import NewsConsole
import Testing

@Suite struct `Boundaries of forms (RFC 2046 section 5.1.1)` {
  private static let longest = String(repeating: "b", count: 70)

  @Test(
    "A boundary is a token or a quoted string",
    arguments: [
      ("multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW", "----WebKitFormBoundary7MA4YWxkTrZu0gW"),
      ("multipart/form-data; boundary=\"gc0pJq0M:08jU534c0p\"", "gc0pJq0M:08jU534c0p"),
      ("multipart/form-data; boundary=\"simple boundary\"", "simple boundary"),
      ("Multipart/Form-Data;BOUNDARY=a", "a"), ("multipart/form-data ;\tboundary=a ; charset=utf-8;", "a"),
      ("multipart/form-data; charset=\"a;b\\\"\"; boundary=a", "a"), ("multipart/form-data;; boundary=\"a\\b\"", "ab"),
      ("multipart/form-data; boundary=\"'()+_,-./:=?\"", "'()+_,-./:=?"),
      ("multipart/form-data; boundary=\(longest)", longest),
    ])
  func accepted(field: String, boundary: String) throws {
    let body = "--\(boundary)\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--\(boundary)--"
    let parts = try Multipart.parts([Array(body.utf8)], boundary: MultipartBoundary(contentType: field))
    #expect(parts == [ParsedPart("a", "b")])
  }

  @Test(
    "Fields without a boundary, or with a malformed one, are refused",
    arguments: [
      "multipart/form-data", "multipart/form-data;", "multipart/form-data; boundary", "multipart/form-data; boundary=",
      "multipart/form-data; boundary=\"\"", "multipart/form-data; boundary=\"a", "multipart/form-data; boundary=\"a \"",
      "multipart/form-data; boundary=a b", "multipart/form-data; boundary=gc0pJq0M:08jU534c0p",
      "multipart/form-data; boundary=\"a\rb\"", "multipart/form-data; boundary=\"a\\\"b\"",
      "multipart/form-data; boundary=ä", "multipart/form-data; boundary=a; boundary=a",
      "multipart/form-data; boundary=a, multipart/form-data; boundary=b", "multipart/form-data boundary=a",
      "multipart/form-data; =a; boundary=a", "multipart/form-data; boundary = a",
      "multipart/form-data; boundary=\(longest)b",
      "", ";", "multipart/form-data; boundary=\"a\"b", "multipart/form-data; boundary=\"a\\",
      "multipart/form-data; boundary=a*b",
    ])
  func malformed(field: String) {
    #expect(throws: FormError.malformedType) { try MultipartBoundary(contentType: field) }
  }

  @Test(
    "Other media types are refused",
    arguments: [
      "application/x-www-form-urlencoded", "multipart/mixed; boundary=a", "multipart/form-data-x; boundary=a",
      "text/plain",
    ])
  func otherTypes(field: String) {
    #expect(throws: FormError.unsupportedType) { try MultipartBoundary(contentType: field) }
  }
}
