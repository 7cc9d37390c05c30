/// The accepted file formats, recognised by their first bytes. None of them is active content: HTML, SVG and XML, which
/// a browser would run as a page of this site, are excluded.
public enum MediaFormat: Sendable, CaseIterable {
  case jpeg, png, gif, webp, avif, heif, pdf
  case mp4, quickTime, webm, ogg, mp3, adts, flac, wave

  /// The number of bytes that `init(beginning:)` needs. A shorter file gives fewer.
  public static let headerByteCount = 4096

  /// The media types of all formats.
  public static let types = allCases.flatMap(\.types)

  /// The media types of the format. A container may hold audio or video, which only the sender knows.
  public var types: [String] {
    switch self {
    case .jpeg: ["image/jpeg"]
    case .png: ["image/png"]
    case .gif: ["image/gif"]
    case .webp: ["image/webp"]
    case .avif: ["image/avif"]
    case .heif: ["image/heic", "image/heif"]
    case .pdf: ["application/pdf"]
    case .mp4: ["video/mp4", "audio/mp4"]
    case .quickTime: ["video/quicktime"]
    case .webm: ["video/webm", "audio/webm"]
    case .ogg: ["audio/ogg", "video/ogg"]
    case .mp3: ["audio/mpeg"]
    case .adts: ["audio/aac"]
    case .flac: ["audio/flac"]
    case .wave: ["audio/wav"]
    }
  }

  /// Recognises a file by its signature (MIME Sniffing standard, section 6; ISO/IEC 14496-12 section 4.3; RFC 8794).
  ///
  /// - Parameter beginning: The first `headerByteCount` bytes of the file, or all of a shorter one.
  /// - Returns: nil for anything else.
  public init?(beginning bytes: [UInt8]) {
    func has(_ signature: [UInt8], at offset: Int = 0) -> Bool { bytes.dropFirst(offset).starts(with: signature) }
    func has(_ signature: String, at offset: Int = 0) -> Bool { has(Array(signature.utf8), at: offset) }
    if has([0xff, 0xd8, 0xff]) {
      self = .jpeg
    } else if has([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
      self = .png
    } else if has("GIF87a") || has("GIF89a") {
      self = .gif
    } else if has("RIFF"), has("WEBPVP8", at: 8) {
      self = .webp
    } else if has("RIFF"), has("WAVE", at: 8) {
      self = .wave
    } else if has("%PDF-") {
      self = .pdf
    } else if has("ftyp", at: 4) {
      self = Self.format(brands: Self.brands(bytes))
    } else if has([0x1a, 0x45, 0xdf, 0xa3]) {
      // Matroska begins in the same way. The header contains the DocType, element 4282.
      guard bytes.prefix(128).contains([0x42, 0x82, 0x84] + Array("webm".utf8)) else { return nil }
      self = .webm
    } else if has("OggS") {
      self = .ogg
    } else if has("fLaC") {
      self = .flac
    } else if has("ID3") {
      self = .mp3
    } else if let format = Self.format(sync: bytes) {
      self = format
    } else {
      return nil
    }
  }

  /// Reads the major brand and the compatible brands.
  private static func brands(_ bytes: [UInt8]) -> Set<String> {
    let size = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let end = min(size, bytes.count)
    let starts = [8] + stride(from: 16, to: max(16, end - 3), by: 4)
    return Set(starts.map { String(decoding: bytes[$0..<min($0 + 4, bytes.count)], as: UTF8.self) })
  }

  private static func format(brands: Set<String>) -> MediaFormat {
    if !brands.isDisjoint(with: ["avif", "avis"]) { return .avif }
    if !brands.isDisjoint(with: ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]) { return .heif }
    return brands.contains("qt  ") ? .quickTime : .mp4
  }

  /// Recognises audio without a container by its first frame: eleven set bits, then version and layer (ISO/IEC 11172-3
  /// section 2.4.1.3; ISO/IEC 13818-7 section 6.2). Reserved bits distinguish a frame from UTF-16 and other
  /// coincidences.
  private static func format(sync bytes: [UInt8]) -> MediaFormat? {
    guard bytes.count >= 4, bytes[0] == 0xff, bytes[1] & 0xe0 == 0xe0 else { return nil }
    // The sampling frequency indices from 13 on are invalid.
    if bytes[1] & 0xf6 == 0xf0 { return bytes[2] >> 2 & 0xf < 13 ? .adts : nil }
    let isFrame = bytes[1] & 0x18 != 0x08 && bytes[1] & 0x06 == 0x02 && bytes[2] >> 4 != 0xf && bytes[2] & 0xc != 0xc
    return isFrame ? .mp3 : nil
  }
}
