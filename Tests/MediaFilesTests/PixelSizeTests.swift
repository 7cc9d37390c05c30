import MediaFiles
import TestKit
import Testing

@Suite struct PixelSizeTests {
  private static func size(_ format: MediaFormat, _ bytes: [UInt8]) -> [Int]? {
    PixelSize.of(format) { offset, count in Array(bytes.dropFirst(offset).prefix(count)) }.map {
      [$0.width, $0.height]
    }
  }

  private static let png: [UInt8] =
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 2, 0x80, 0, 0, 1, 0xe0]

  private static func riff(_ kind: String, _ rest: [UInt8]) -> [UInt8] {
    Array("RIFF\0\0\0\0WEBP\(kind)\0\0\0\0".utf8) + rest
  }

  @Test(
    "Width and height are read from the header",
    arguments: [
      (.png, png, [640, 480]),
      (.gif, Array("GIF89a".utf8) + [0x80, 2, 0xe0, 1], [640, 480]),
      (.webp, riff("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, 0x80, 0x42, 0xe0, 0x81]), [640, 480]),
      // 639 and 479, in fourteen bits each.
      (.webp, riff("VP8L", [0x2f, 0x7f, 0xc2, 0x77, 0x00]), [640, 480]),
      (.webp, riff("VP8X", [0, 0, 0, 0, 0x7f, 2, 0, 0xdf, 1, 0]), [640, 480]),
    ] as [(MediaFormat, [UInt8], [Int])])
  func sizes(format: MediaFormat, bytes: [UInt8], size: [Int]) {
    #expect(Self.size(format, bytes) == size)
    for count in 0..<bytes.count { #expect(Self.size(format, Array(bytes.prefix(count))) == nil) }
  }

  @Test(
    "A header with another signature has no size",
    arguments: [
      (.png, png.map { $0 == UInt8(ascii: "H") ? 0 : $0 }),
      (.webp, riff("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2b, 0x80, 0x42, 0xe0, 0x81])),
      (.webp, riff("VP8L", [0x2e, 0x7f, 0xc2, 0x77, 0x00])),
      (.webp, riff("VP9 ", [0, 0, 0, 0x9d, 0x01, 0x2a, 0x80, 0x42, 0xe0, 0x81])),
      (.webp, riff("VP9L", [0x2f, 0x7f, 0xc2, 0x77, 0x00])),
      (.webp, riff("VP9X", [0, 0, 0, 0, 0x7f, 2, 0, 0xdf, 1, 0])),
    ] as [(MediaFormat, [UInt8])])
  func otherSignature(format: MediaFormat, bytes: [UInt8]) {
    #expect(Self.size(format, bytes) == nil)
  }

  private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xff, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xff)] + content
  }

  private static let frame: [UInt8] = [8, 1, 0xe0, 2, 0x80, 3]

  /// Returns an Exif segment with a single entry, the orientation, in either byte order.
  private static func exif(_ orientation: UInt8, isLittle: Bool = false) -> [UInt8] {
    let tiff: [UInt8] =
      isLittle
      ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]
      : [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
    return segment(0xe1, Array("Exif\0\0".utf8) + tiff)
  }

  /// An Exif segment with a gap before its directory, and the orientation behind another entry.
  private static let laterOrientation: [UInt8] = {
    let header: [UInt8] = [0x4d, 0x4d, 0, 42, 0, 0, 0, 10, 0, 0, 0, 2]
    let entries: [UInt8] = [
      0x01, 0x0f, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0,
    ]
    return segment(0xe1, Array("Exif\0\0".utf8) + header + entries)
  }()

  /// Segments with the markers beside those of frames, whose content would be a size.
  private static let noFrames = ([0xc4, 0xc8, 0xcc] as [UInt8]).flatMap { segment($0, [8, 0, 1, 0, 1, 3]) }

  /// Segments of a colour profile and thumbnails, more than most cameras write.
  private static let manySegments = Array(repeating: segment(0xe2, [0]), count: 1000).flatMap { $0 }

  /// Another segment with the marker of Exif, and what would be an orientation there.
  private static let otherOrientation = segment(0xe1, Array("Exof\0\0".utf8) + exif(6).dropFirst(10))

  private static let xmp = segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0".utf8))

  @Test(
    "The size of a JPEG is read from its frame header, and rotated by its orientation",
    arguments: [
      (segment(0xc0, frame), [640, 480]),
      (segment(0xe0, Array("JFIF".utf8)) + segment(0xdb, [0xff, 0xc0]) + segment(0xc2, frame), [640, 480]),
      ([0xff, 0xff] + segment(0xc4, [1]) + segment(0xc1, frame), [640, 480]),
      (segment(0xe1, Array(repeating: 0xff, count: 60_000)) + segment(0xc0, frame), [640, 480]),
      (exif(1) + segment(0xc0, frame), [640, 480]), (exif(6) + segment(0xc0, frame), [480, 640]),
      (exif(4) + segment(0xc0, frame), [640, 480]), (exif(5) + segment(0xc0, frame), [480, 640]),
      (exif(8, isLittle: true) + segment(0xc0, frame), [480, 640]), (exif(9) + segment(0xc0, frame), [640, 480]),
      // XMP shares the marker of Exif.
      (exif(6) + xmp + segment(0xc0, frame), [480, 640]), (xmp + exif(6) + segment(0xc0, frame), [480, 640]),
      (otherOrientation + segment(0xc0, frame), [640, 480]),
      (noFrames + segment(0xc0, frame), [640, 480]), (segment(0xcf, frame), [640, 480]),
      (laterOrientation + segment(0xc0, frame), [480, 640]), (manySegments + segment(0xc0, frame), [640, 480]),
    ] as [([UInt8], [Int])])
  func jpeg(segments: [UInt8], size: [Int]) {
    #expect(Self.size(.jpeg, [0xff, 0xd8] + segments) == size)
  }

  /// More segments than are read.
  private static let tooManySegments = Array(repeating: segment(0xe2, [0]), count: 1024).flatMap { $0 }

  @Test(
    "A header without a size gives none",
    arguments: [
      segment(0xda, [1]) + segment(0xc0, frame), segment(0xd9, [1]) + segment(0xc0, frame),
      tooManySegments + segment(0xc0, frame), segment(0xc0, [8, 0, 0, 2, 0x80, 3]), [0xff, 0xc0, 0, 1],
      [0] + segment(0xc0, frame), Array(repeating: 0xff, count: 10_000), [],
      // The length of a segment includes itself, so that it is 2 or more.
      [0xff, 0xe1, 0, 0] + segment(0xc0, frame), [0xff, 0xe1, 0, 1] + segment(0xc0, frame),
    ] as [[UInt8]])
  func missing(segments: [UInt8]) {
    #expect(Self.size(.jpeg, [0xff, 0xd8] + segments) == nil)
  }

  @Test("Sizes out of range are rejected")
  func bounds() {
    var bytes = Self.png
    bytes[16] = 0x80
    #expect(Self.size(.png, bytes) == nil)
    #expect(Self.size(.mp4, Self.png) == nil)
    let start = Array(Self.png.dropLast(8))
    #expect(Self.size(.png, start + [0, 0x10, 0, 0, 0, 0x10, 0, 0]) == [1 << 20, 1 << 20])
    for size: [UInt8] in [[0, 0x10, 0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0x10, 0, 1]] {
      #expect(Self.size(.png, start + size) == nil)
    }
    for (width, height) in [(0, 480), (640, 0)] {
      let bytes = Self.png.dropLast(8) + [0, 0, UInt8(width >> 8), UInt8(width & 255)]
      #expect(Self.size(.png, Array(bytes + [0, 0, UInt8(height >> 8), UInt8(height & 255)])) == nil)
    }
  }

  @Test("Random headers give a size or none, with a bounded number of reads")
  func random() {
    var generator = SplitMix64(seed: 7)
    for round in 0..<3000 {
      var bytes = [UInt8](repeating: 0, count: 400).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let format = MediaFormat.allCases[round % MediaFormat.allCases.count]
      if format == .jpeg { bytes.replaceSubrange(0..<40, with: [0xff, 0xd8] + Self.exif(6).prefix(38)) }
      var reads = 0
      let size = PixelSize.of(format) { offset, count in
        reads += 1
        return Array(bytes.dropFirst(offset).prefix(count))
      }
      #expect(reads <= 2048)
      if let size { #expect(size.width > 0 && size.height > 0) }
    }
  }
}
