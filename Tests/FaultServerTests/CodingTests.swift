import CZlib
import FaultServer
import Foundation
import Testing

/// Compressed bodies, correct and defective, as zlib reads them.
@Suite struct CodingTests {
  let plain = FaultResponse.json("[" + (0..<2000).map(String.init).joined(separator: ",") + "]")

  @Test func `a compressed body can be inflated`() throws {
    let response = plain.gzipped()
    #expect(response["Content-Encoding"] == "gzip")
    #expect(response.body.count < plain.body.count)
    #expect(inflated(response.body).bytes == plain.body)
    #expect(inflated(response.body).isWhole)
  }

  @Test(arguments: CodingFault.allCases)
  func `each fault is one`(_ fault: CodingFault) {
    let response = plain.gzipped(fault)
    let (bytes, isWhole, rest) = inflated(response.body)
    let coding = response["Content-Encoding"]
    switch fault {
    case .wrongChecksum, .wrongLength, .cut, .damaged:
      #expect(!isWhole)
      #expect(coding == "gzip")
    case .trailingBytes: #expect(isWhole && rest == 8)
    case .plainCalledGzip: #expect(!isWhole && bytes.isEmpty && coding == "gzip")
    case .gzipCalledPlain: #expect(isWhole && coding == nil)
    case .gzipCalledBrotli: #expect(isWhole && coding == "br")
    case .unknownCoding: #expect(response.body == plain.body && coding == "x-tidings")
    case .compressedTwice: #expect(isWhole && inflated(bytes).bytes == plain.body)
    }
  }

  @Test func `a bomb is a mebibyte that becomes a gibibyte of valid JSON`() throws {
    let bomb = FaultResponse.gzipBomb()
    #expect(bomb.body.count < 1_200_000)
    var (length, first, last) = (0, UInt8(0), UInt8(0))
    let isWhole = inflate(bomb.body) { part in
      if length == 0 { first = part.first ?? 0 }
      last = part.last ?? last
      length += part.count
    }
    #expect(isWhole.isWhole)
    #expect(length == 1 << 30 + 12)
    #expect(first == UInt8(ascii: "{") && last == UInt8(ascii: "}"))
    let small = inflated(FaultResponse.gzipBomb(expandingTo: 2 << 20).body).bytes
    #expect(try JSONSerialization.jsonObject(with: small) is [String: [Int]])
  }

  @Test func `a huge body has the requested length`() {
    #expect(FaultResponse.huge(bytes: 100_000).body.count == 100_000)
  }
}

private func inflated(_ data: Data) -> (bytes: Data, isWhole: Bool, rest: Int) {
  var bytes = Data()
  let (isWhole, rest) = inflate(data) { bytes += $0 }
  return (bytes, isWhole, rest)
}

/// Decompresses gzip.
///
/// - Returns: Whether the end was reached with a correct checksum and length, and the number of bytes after it.
private func inflate(_ data: Data, _ take: (ArraySlice<UInt8>) -> Void) -> (isWhole: Bool, rest: Int) {
  var stream = z_stream()
  guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size)) == Z_OK else {
    return (false, 0)
  }
  defer { inflateEnd(&stream) }
  var input = [UInt8](data)
  var chunk = [UInt8](repeating: 0, count: 1 << 18)
  return input.withUnsafeMutableBufferPointer { input in
    stream.next_in = input.baseAddress
    stream.avail_in = uInt(input.count)
    var status = Z_OK
    while status == Z_OK {
      let size = chunk.count
      let written = chunk.withUnsafeMutableBufferPointer { buffer in
        stream.next_out = buffer.baseAddress
        stream.avail_out = uInt(size)
        status = inflate(&stream, Z_NO_FLUSH)
        return size - Int(stream.avail_out)
      }
      take(chunk[..<written])
    }
    return (status == Z_STREAM_END, Int(stream.avail_in))
  }
}
