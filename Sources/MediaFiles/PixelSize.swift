/// The width and height of a picture as displayed, read from the header of its file without decoding the picture.
public struct PixelSize: Equatable, Sendable {
  /// The width in pixels, from 1 to 2^20.
  public let width: Int
  /// The height in pixels, from 1 to 2^20.
  public let height: Int

  init?(_ width: Int, _ height: Int) {
    guard 1...1 << 20 ~= width, 1...1 << 20 ~= height else { return nil }
    self.width = width
    self.height = height
  }

  /// Reads the size of a picture.
  ///
  /// - Parameters:
  ///   - format: The format of the file. Formats without a picture, and those whose headers are not parsed here, have
  ///     no size.
  ///   - read: Returns bytes from an offset on, fewer at the end of the file.
  /// - Returns: The size; nil if the header does not specify it.
  /// - Throws: The errors of `read`.
  public static func of<Failure: Error>(
    _ format: MediaFormat, reading read: (_ offset: Int, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> PixelSize? {
    switch format {
    case .png: png(HeaderBytes(bytes: try read(0, 24)))
    case .gif: gif(HeaderBytes(bytes: try read(0, 10)))
    case .webp: webp(HeaderBytes(bytes: try read(0, 30)))
    case .jpeg: try jpeg(read)
    default: nil
    }
  }

  /// PNG section 11.2.1: the first chunk is IHDR.
  private static func png(_ header: HeaderBytes) -> PixelSize? {
    guard header.has("IHDR", at: 12), let width = header.big(16, 4), let height = header.big(20, 4) else { return nil }
    return PixelSize(width, height)
  }

  /// GIF89a section 18: the logical screen.
  private static func gif(_ header: HeaderBytes) -> PixelSize? {
    guard let width = header.little(6, 2), let height = header.little(8, 2) else { return nil }
    return PixelSize(width, height)
  }

  /// RFC 9649 sections 2.5 to 2.7.
  private static func webp(_ header: HeaderBytes) -> PixelSize? {
    if header.has("VP8 ", at: 12), header.big(23, 3) == 0x9d012a, let width = header.little(26, 2),
      let height = header.little(28, 2)
    {
      return PixelSize(width & 0x3fff, height & 0x3fff)
    }
    if header.has("VP8L", at: 12), header.little(20, 1) == 0x2f, let bits = header.little(21, 4) {
      return PixelSize(bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
    }
    if header.has("VP8X", at: 12), let width = header.little(24, 3), let height = header.little(27, 3) {
      return PixelSize(width + 1, height + 1)
    }
    return nil
  }

  /// ITU-T T.81 annex B: segments with their lengths, one of which is the frame header. The orientation in the Exif
  /// segment determines which of its numbers is the displayed width.
  private static func jpeg<Failure: Error>(
    _ read: (Int, Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> PixelSize? {
    var offset = 2
    var isRotated = false
    // The limit is more segments than any camera writes. Without a limit, a file could cause as many reads as it has
    // bytes.
    for _ in 0..<1024 {
      let segment = HeaderBytes(bytes: try read(offset, 9))
      guard segment.little(0, 1) == 0xff, let marker = segment.little(1, 1) else { return nil }
      if marker == 0xff {
        offset += 1
        continue
      }
      guard let length = segment.big(2, 2), length >= 2 else { return nil }
      switch marker {
      case 0xc0...0xcf where ![0xc4, 0xc8, 0xcc].contains(marker):
        guard let height = segment.big(5, 2), let width = segment.big(7, 2) else { return nil }
        return isRotated ? PixelSize(height, width) : PixelSize(width, height)
      // XMP has the same marker and no orientation.
      case 0xe1 where !isRotated: isRotated = HeaderBytes(bytes: try read(offset + 4, length - 2)).isRotated
      case 0xda, 0xd9: return nil
      default: break
      }
      offset += 2 + length
    }
    return nil
  }
}

/// Reads numbers from bytes; nil beyond the end.
private struct HeaderBytes {
  let bytes: [UInt8]

  func has(_ text: String, at offset: Int) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }

  func big(_ offset: Int, _ count: Int) -> Int? {
    guard offset + count <= bytes.count else { return nil }
    return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
  }

  func little(_ offset: Int, _ count: Int) -> Int? {
    guard offset + count <= bytes.count else { return nil }
    return bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// Whether an Exif segment has an orientation from 5 to 8, a quarter turn (Exif section 4.6.4, tag 274). After six
  /// bytes the segment is a TIFF file, which specifies its byte order.
  var isRotated: Bool {
    guard has("Exif\0\0", at: 0) else { return false }
    let isLittle = has("II", at: 6)
    func number(_ offset: Int, _ count: Int) -> Int? { isLittle ? little(offset, count) : big(offset, count) }
    guard let directory = number(10, 4), let entries = number(6 + directory, 2) else { return false }
    for entry in 0..<entries {
      let start = 6 + directory + 2 + 12 * entry
      guard let tag = number(start, 2), let value = number(start + 8, 2) else { return false }
      if tag == 0x0112 { return 5...8 ~= value }
    }
    return false
  }
}
