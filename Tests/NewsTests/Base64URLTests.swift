import Foundation
import News
import Testing

/// base64url (RFC 4648 section 5), with Foundation's base64 as the oracle.
struct Base64URLTests {
  @Test("Bytes of any number and value are encoded without padding")
  func encoding() {
    for count in 0...40 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
      #expect(String(base64URL: bytes) == Self.expected(bytes))
    }
    let all = Array(UInt8.min...UInt8.max)
    #expect(String(base64URL: all) == Self.expected(all))
  }

  @Test("What was encoded is decoded, and no other text is")
  func decoding() {
    for count in 0...40 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
      #expect([UInt8](base64URL: String(base64URL: bytes)) == bytes)
    }
    for text in ["A", "AAAAA", "AA==", "A+A/", "AB", "AAB", " AAA", "AAA\n", "ÄAAA", "A.AA"] {
      #expect([UInt8](base64URL: text) == nil, "\(text)")
    }
  }

  private static func expected(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().filter { $0 != "=" }
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
  }
}
