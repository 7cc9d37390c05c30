import CZlib
import Foundation

/// The gzip format (RFC 1952), with and without defects.
enum Gzip {
  static func compress(_ data: Data) -> Data { member(pieces: [(data, 1)]) }

  /// Returns a member made of repeated pieces. Each piece is compressed and kept only once. Pieces do not refer to
  /// earlier bytes, so even a gigabyte takes no time.
  static func member(pieces: [(bytes: Data, count: Int)]) -> Data {
    // Magic number, deflate, no flags, no time, no extra flags, unknown system.
    var output = Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
    var checksum: UInt = 0
    var length = 0
    for (bytes, count) in pieces where !bytes.isEmpty {
      let block = deflated(bytes)
      let blockChecksum = bytes.withUnsafeBytes { crc32(0, $0.bindMemory(to: Bytef.self).baseAddress, uInt($0.count)) }
      for _ in 0..<count {
        output += block
        checksum = UInt(crc32_combine(uLong(checksum), blockChecksum, bytes.count))
        length += bytes.count
      }
    }
    // An empty last block with the fixed code (RFC 1951 section 3.2.6).
    output += [3, 0]
    for shift in stride(from: 0, to: 32, by: 8) { output.append(UInt8(truncatingIfNeeded: checksum >> UInt(shift))) }
    for shift in stride(from: 0, to: 32, by: 8) { output.append(UInt8(truncatingIfNeeded: length >> shift)) }
    return output
  }

  /// Returns blocks that end on a byte boundary, without a last block (zlib.h, Z_FULL_FLUSH).
  private static func deflated(_ data: Data) -> Data {
    var stream = z_stream()
    // A negative window size selects raw deflate without a header (zlib.h, deflateInit2).
    let status = CZlib_deflateInit2(&stream, 9, -15)
    precondition(status == Z_OK, "zlib cannot allocate its state")
    defer { deflateEnd(&stream) }
    var input = [UInt8](data)
    // A flush adds a marker that deflateBound() does not count.
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(input.count))) + 64)
    let written = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = uInt(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = uInt(output.count)
        let status = deflate(&stream, Z_FULL_FLUSH)
        precondition(status == Z_OK && stream.avail_in == 0, "deflateBound() is enough for one call")
        return output.count - Int(stream.avail_out)
      }
    }
    return Data(output[..<written])
  }
}
