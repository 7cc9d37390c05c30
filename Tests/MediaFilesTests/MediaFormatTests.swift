import MediaFiles
import Testing

@Suite struct MediaFormatTests {
  @Test(
    "A format is recognised by the first bytes of a file",
    arguments: [
      ([0xff, 0xd8, 0xff, 0xe0], .jpeg),
      ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], .png),
      (Array("GIF87a".utf8), .gif), (Array("GIF89a".utf8), .gif),
      (Array("RIFF1234WEBPVP8 ".utf8), .webp), (Array("RIFF1234WAVEfmt ".utf8), .wave),
      (Array("%PDF-1.7\n".utf8), .pdf),
      ([0, 0, 0, 16] + Array("ftypisom0000".utf8), .mp4), ([0, 0, 0, 16] + Array("ftypM4A 0000".utf8), .mp4),
      ([0, 0, 0, 16] + Array("ftypqt  0000".utf8), .quickTime),
      ([0, 0, 0, 16] + Array("ftypavif0000".utf8), .avif), ([0, 0, 0, 24] + Array("ftypmif10000mif1avif".utf8), .avif),
      ([0, 0, 0, 24] + Array("ftypmif10000mif1heic".utf8), .heif),
      // Bytes after the box are not a brand.
      ([0, 0, 0, 16] + Array("ftypisom0000avif".utf8), .mp4),
      // Nor is the version of the major brand. A box may be cut off.
      ([0, 0, 0, 16] + Array("ftypisomavif".utf8), .mp4), ([0, 0, 0, 16] + Array("ftypis".utf8), .mp4),
      ([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84] + Array("webm".utf8), .webm),
      (Array("OggS".utf8), .ogg), (Array("fLaC".utf8), .flac), (Array("ID3\u{4}".utf8), .mp3),
      ([0xff, 0xfb, 0x90, 0x64], .mp3), ([0xff, 0xf1, 0x50, 0x80], .adts),
      ([0xff, 0xf1, 0x30, 0x80], .adts),
      // The other versions of MPEG.
      ([0xff, 0xf9, 0x50, 0x80], .adts), ([0xff, 0xf3, 0x90, 0x64], .mp3), ([0xff, 0xe3, 0x90, 0x64], .mp3),
    ] as [([UInt8], MediaFormat)])
  func known(beginning: [UInt8], format: MediaFormat) {
    #expect(MediaFormat(beginning: beginning) == format)
  }

  @Test(
    "Each brand of the formats for pictures is known",
    arguments: [
      ("avif", .avif), ("avis", .avif), ("heic", .heif), ("heix", .heif), ("heim", .heif), ("heis", .heif),
      ("hevc", .heif), ("hevx", .heif), ("mif1", .heif), ("msf1", .heif),
    ] as [(String, MediaFormat)])
  func brands(brand: String, format: MediaFormat) {
    #expect(MediaFormat(beginning: [0, 0, 0, 16] + Array("ftyp\(brand)0000".utf8)) == format)
    #expect(MediaFormat(beginning: [0, 0, 0, 20] + Array("ftypisom0000\(brand)".utf8)) == format)
  }

  @Test(
    "Active content and unknown formats are rejected",
    arguments: [
      "", "<!DOCTYPE html><script>alert(1)</script>", "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"x()\"/>",
      "<?xml version=\"1.0\"?><x/>", " GIF89a", "GIF90a", "\n%PDF-1.4", "RIFF1234AVI ", "MZ", "#!/bin/sh",
      "PK\u{3}\u{4}", "FORM1234WEBPVP8 ", "FORM1234WAVEfmt ", "RIFF1234WEBPICCP", "%PDF 1.4", "Oggs",
    ])
  func unknown(text: String) {
    #expect(MediaFormat(beginning: Array(text.utf8)) == nil)
  }

  /// A Matroska file that is no WebM, and has the name of that format elsewhere.
  private static let lateType: [UInt8] =
    [0x1a, 0x45, 0xdf, 0xa3] + [UInt8](repeating: 0, count: 120) + [0x42, 0x82, 0x84] + Array("webm".utf8)

  @Test(
    "Bytes that only resemble a signature are rejected",
    arguments: [
      // UTF-16 and similar bytes, reserved versions, layers, rates and frequencies, and Matroska files that are not
      // WebM.
      [0xff, 0xff, 0x90, 0x00], [0xff, 0xfd, 0x90, 0x00],
      [0xff, 0xfe, 0x3c, 0x00], [0xff, 0xff], [0xff, 0xeb, 0x90, 0x00], [0xff, 0xfb, 0xf0, 0x00],
      [0xff, 0xfb, 0x9c, 0], [0xff, 0xfb], [0xff, 0xfb, 0x90], [0xff, 0xf1], [0xff],
      [0xff, 0xf1, 0x3c, 0x00], [0xff, 0xf1, 0x34, 0x00], [0xff, 0xf1, 0x38, 0x00], [0xff, 0xd8],
      [0x1a, 0x45, 0xdf, 0xa3, 0x42, 0x82, 0x88, 0x6d, 0x61],
      [0x1a, 0x45, 0xdf, 0xa4, 0x42, 0x82, 0x84, 0x77, 0x65, 0x62, 0x6d],
      [0x89, 0x50, 0x4e, 0x47], [0xfe, 0xfb, 0x90, 0x64], [0x00, 0xf1, 0x50, 0x80], [0xff, 0x1b, 0x90, 0x64], lateType,
    ] as [[UInt8]])
  func lookalikes(bytes: [UInt8]) {
    #expect(MediaFormat(beginning: bytes) == nil)
  }

  @Test("The first type of a format is its usual one, and containers have another one for sound or for film")
  func types() {
    #expect(
      MediaFormat.allCases.map { $0.types[0] } == [
        "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/heic", "application/pdf",
        "video/mp4", "video/quicktime", "video/webm", "audio/ogg", "audio/mpeg", "audio/aac", "audio/flac", "audio/wav",
      ])
    #expect(
      MediaFormat.allCases.flatMap { $0.types.dropFirst() } == ["image/heif", "audio/mp4", "audio/webm", "video/ogg"])
  }

  @Test("No accepted format is a page, a script or a style sheet")
  func passive() {
    for type in MediaFormat.types {
      #expect(type == "application/pdf" || ["image/", "audio/", "video/"].contains { type.hasPrefix($0) })
      #expect(!type.contains("xml"))
    }
  }
}
