import Foundation
import HTTPConditions
import HTTPTypes
import Testing

@Suite struct `Digest fields (RFC 9530)` {
  private static let name = HTTPField.Name("Repr-Digest")!
  private static let empty = Data(base64Encoded: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")!
  private static let text = ":47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"

  private static func read(_ lines: String...) -> DigestField {
    DigestField(fields: HTTPFields(lines.map { HTTPField(name: name, value: $0) }), name: name)
  }

  @Test("The digest of SHA-256 is found among others, in any line")
  func found() {
    #expect(Self.read("sha-256=\(Self.text)") == .sha256(Self.empty))
    #expect(Self.read("sha-512=:AAAA:, sha-256=\(Self.text) ;a=1") == .sha256(Self.empty))
    #expect(Self.read("unixsum=:AAAA:", "sha-256=\(Self.text)") == .sha256(Self.empty))
    // The last value of a repeated key applies (RFC 9651 section 4.2.2).
    #expect(Self.read("sha-256=:AAAA:, sha-256=\(Self.text)") == .sha256(Self.empty))
  }

  @Test("A field with other algorithms only has no SHA-256 digest")
  func absent() {
    #expect(Self.read() == .absent)
    #expect(Self.read("") == .absent)
    #expect(Self.read("sha-512=:AAAA:") == .absent)
  }

  @Test(
    "Anything but a byte sequence of 32 bytes is malformed",
    arguments: [
      "sha-256", "sha-256=", "sha-256=::", "sha-256=:AAAA:", "sha-256=:%%%%:",
      "sha-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "sha-256=:",
    ])
  func malformed(value: String) {
    #expect(Self.read(value) == .malformed)
  }

  @Test("A written field can be parsed")
  func written() {
    #expect(DigestField.value(sha256: Self.empty) == "sha-256=\(Self.text)")
  }
}
