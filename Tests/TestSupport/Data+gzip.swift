import CZlib
package import Foundation

extension Data {
  /// Returns the data decompressed from gzip (RFC 1952), using zlib's own parser.
  package func gunzipped() throws -> Data {
    struct Malformed: Error {}
    var stream = z_stream()
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw Malformed()
    }
    defer { inflateEnd(&stream) }
    var output = Data()
    var input = [UInt8](self)
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    try input.withUnsafeMutableBufferPointer { input in
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
        output.append(contentsOf: chunk[..<written])
      }
      guard status == Z_STREAM_END else { throw Malformed() }
    }
    return output
  }
}
