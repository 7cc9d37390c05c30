import HTTPConditions
import Testing

@Suite("The declared codings of a content") struct DeclaredCodingsTests {
  @Test(
    "are names in lower case",
    arguments: [
      ([], []), ([""], []), (["identity"], []), (["gzip"], ["gzip"]), (["X-GZip"], ["gzip"]),
      (["x-compress"], ["compress"]), ([" aws-chunked , gzip,", "BR"], ["aws-chunked", "gzip", "br"]),
      (["Identity, none"], ["none"]),
    ] as [([String], [String])])
  func names(lines: [String], names: [String]) {
    #expect(DeclaredCodings(lines: lines).names == names)
  }

  @Test("can be decoded, cannot be decoded, or are unknown")
  func kinds() {
    for name in ["gzip", "x-gzip", "deflate", "none, gzip"] {
      let codings = DeclaredCodings(lines: [name])
      #expect(codings.isDecodable && codings.undecodable == nil, "\(name)")
    }
    for name in ["br", "zstd", "compress", "dcb", "dcz"] {
      let codings = DeclaredCodings(lines: ["none", name])
      #expect(!codings.isDecodable && codings.undecodable == name)
    }
    let unknown = DeclaredCodings(lines: ["aws-chunked, utf-8"])
    #expect(!unknown.isDecodable && unknown.undecodable == nil && !unknown.isDeflate)
    #expect(DeclaredCodings(lines: ["gzip", "br"]).undecodable == "br")
  }

  @Test("are recognised in the first bytes")
  func bytes() {
    #expect(DeclaredCodings.isGzip([0x1F, 0x8B, 0x08, 0x00]))
    for bytes in [[], [0x1F, 0x8B], [0x1F, 0x8B, 0x07], [0x1F, 0x8A, 0x08], Array("GIF89a".utf8)] as [[UInt8]] {
      #expect(!DeclaredCodings.isGzip(bytes))
    }
    for second: UInt8 in [0x01, 0x5E, 0x9C, 0xDA] { #expect(DeclaredCodings.isZlib([0x78, second, 0x0B])) }
    for bytes in [[], [0x78], [0x78, 0x9D], [0x79, 0x9C], [0x88, 0x1C], Array("<svg".utf8)] as [[UInt8]] {
      #expect(!DeclaredCodings.isZlib(bytes))
    }
  }
}
