import CZlib
package import NIOCore

/// The gzip format (RFC 1952).
package enum Gzip {
  /// Compresses without a time stamp, so that equal input gives equal bytes.
  package static func compress(_ data: ByteBuffer) -> ByteBuffer {
    var stream = z_stream()
    // A window of 15 bits, plus 16 to select the gzip format instead of zlib's (zlib.h, deflateInit2).
    let status = CZlib_deflateInit2(&stream, level, 15 + 16)
    precondition(status == Z_OK, "zlib cannot allocate its state")
    defer { deflateEnd(&stream) }
    let bound = Int(deflateBound(&stream, UInt(data.readableBytes)))
    var buffer = ByteBufferAllocator().buffer(capacity: bound)
    data.withUnsafeReadableBytes { input in
      _ = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { output in
        // zlib only reads its input; the pointer is not const for historical reasons.
        stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: Bytef.self).baseAddress)
        stream.avail_in = uInt(input.count)
        stream.next_out = output.bindMemory(to: Bytef.self).baseAddress
        stream.avail_out = uInt(output.count)
        let status = deflate(&stream, Z_FINISH)
        precondition(status == Z_STREAM_END, "deflateBound() is enough for one call")
        return output.count - Int(stream.avail_out)
      }
    }
    return buffer
  }

  /// The fastest level, which has most of the gain. Each answer is compressed once.
  private static let level: CInt = 1
}
