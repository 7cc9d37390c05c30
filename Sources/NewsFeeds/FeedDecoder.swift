internal import Foundation

/// Converts the bytes of a feed to UTF-8.
///
/// A byte order mark takes precedence over the width of the first characters, and both over the XML declaration, which
/// is often wrong. Content in UTF-8, or declared as an encoding of single bytes, is decoded by evidence. Content declared as
/// another encoding is checked for UTF-8 before the declaration is trusted.
final class FeedDecoder {
  private enum State {
    /// The first bytes, until they determine the encoding.
    case undecided([UInt8])
    case text(CharsetEvidence)
    /// Bytes declared as an encoding of more than one byte, none of them above 127 so far.
    case declared(CharsetConverter, name: String)
    /// The bytes from the first one above 127 on, which may be UTF-8.
    case verifying([UInt8], CharsetConverter, name: String)
    case other(CharsetConverter, name: String)
  }

  /// The number of bytes that are searched for an XML declaration.
  private static let maximumDeclarationBytes = 1024
  /// The number of bytes that decide whether content declared as an encoding of more than one byte is UTF-8.
  private static let verifiedByteCount = 4096
  /// The number of sequences of UTF-8 that outweigh a byte that is not UTF-8. In such encodings, many occur by chance.
  private static let sequencesPerStray = 8

  /// The problems found, each kind once.
  var problems: [FeedProblem] { found.map { FeedProblem(position: .line($0.value), message: $0.key) } }

  /// The encoding of content that declares none.
  private let charset: String?
  private var state = State.undecided([])
  /// Whether the first character that is not blank does not begin JSON; nil until it is known.
  private var isXML: Bool?
  private var lines = 1
  /// The lines of the problems by message.
  private var found: [String: Int] = [:]

  /// - Parameter charset: The encoding of content that declares none.
  init(charset: String? = nil) {
    self.charset = charset
  }

  /// Decodes more bytes.
  func decode(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
    switch state {
    case .undecided(let start):
      return decide(start + bytes, isLast: isLast)
    case .text(let evidence):
      let output = evidence.decode(bytes, isLast: isLast)
      for (message, place) in output.notes { note(message, in: output.bytes, at: place) }
      return counted(output.bytes)
    case .declared(let converter, let name):
      let plain = bytes.prefix { $0 < 0x80 }
      let output = counted(converter.convert(plain, isLast: isLast && plain.count == bytes.count))
      if plain.count == bytes.count { return output }
      state = .verifying([], converter, name: name)
      return output + decode(Array(bytes.dropFirst(plain.count)), isLast: isLast)
    case .verifying(let start, let converter, let name):
      return checkForUTF8(start + bytes, converter, name: name, isLast: isLast)
    case .other(let converter, let name):
      return convert(bytes, converter, name: name, isLast: isLast)
    }
  }

  private func checkForUTF8(_ bytes: [UInt8], _ converter: CharsetConverter, name: String, isLast: Bool) -> [UInt8] {
    guard bytes.count >= Self.verifiedByteCount || isLast else {
      state = .verifying(bytes, converter, name: name)
      return []
    }
    let sample = bytes.prefix(Self.verifiedByteCount)
    let count = CharsetEvidence.Count(sample.dropLast(UTF8Tail.length(of: sample)))
    guard count.sequences >= Self.sequencesPerStray * count.strays else {
      state = .other(converter, name: name)
      return convert(bytes, converter, name: name, isLast: isLast)
    }
    state = Self.utf8
    note("declares the encoding \(name), but is UTF-8 and is read as UTF-8")
    return decode(bytes, isLast: isLast)
  }

  private func convert(_ bytes: [UInt8], _ converter: CharsetConverter, name: String, isLast: Bool) -> [UInt8] {
    let before = converter.replacements
    let output = converter.convert(bytes, isLast: isLast)
    if converter.replacements > before, let place = output.firstRange(of: "\u{FFFD}".utf8)?.lowerBound {
      note("has bytes that are not \(name); they are replaced by U+FFFD", in: output, at: place)
    }
    return counted(output)
  }

  /// Counts lines, and removes from XML the control characters that it forbids (XML 1.0 section 2.2).
  private func counted(_ bytes: [UInt8]) -> [UInt8] {
    defer { lines += bytes.count { $0 == UInt8(ascii: "\n") } }
    func isAllowed(_ byte: UInt8) -> Bool { byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
    isXML = isXML ?? bytes.first { $0 > 0x20 }.map { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "[") }
    guard isXML == true, let place = bytes.firstIndex(where: { !isAllowed($0) }) else { return bytes }
    note("has control characters, which XML does not allow; they are removed", in: bytes, at: place)
    return bytes.filter(isAllowed)
  }

  private func note(_ message: String, in bytes: [UInt8] = [], at place: Int = 0) {
    guard found[message] == nil else { return }
    found[message] = lines + bytes[..<place].count { $0 == UInt8(ascii: "\n") }
  }
}

// MARK: - Encoding

extension FeedDecoder {
  private func decide(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
    let blanks = bytes.prefix { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    let content = Array(bytes.dropFirst(blanks.count))
    let mark = Self.marks.first { content.starts(with: $0.start) }
    // Other text may be before the declaration.
    let isJSON = content.first == UInt8(ascii: "{") || content.first == UInt8(ascii: "[")
    let found = mark == nil && !isJSON ? FeedProlog.find(in: content, isWhole: isLast) : .regular
    let prolog: ArraySlice<UInt8> =
      if case .excess(let count) = found { content.prefix(count) } else {
        content.prefix(content.starts(with: "<?xml".utf8) ? Self.maximumDeclarationBytes : 0)
      }
    let isDeclared = content.starts(with: "<?xml".utf8)
    let isEnough =
      isDeclared
      ? content.count >= Self.maximumDeclarationBytes || content.firstRange(of: "?>".utf8) != nil
      : content.count >= 5 && found != .open
    guard isEnough || isLast else {
      state = .undecided(content)
      return counted(Array(blanks))
    }
    let output = counted(Array(blanks))
    if let mark {
      let converter = mark.unit > 1 ? CharsetConverter(mark.encoding, unit: mark.unit) : nil
      state = converter.map { .other($0, name: mark.encoding) } ?? Self.utf8
    } else {
      let name = declaredName(in: prolog)
      state = (name ?? charset).map(declared) ?? Self.utf8
    }
    let text = content.dropFirst(mark.map { $0.isByteOrderMark ? $0.start.count : 0 } ?? 0)
    return output + decode(Array(text), isLast: isLast)
  }

  /// The start of content from which its encoding is known.
  private struct Mark {
    let start: [UInt8]
    let encoding: String
    /// The width of a code unit in bytes.
    let unit: Int
    let isByteOrderMark: Bool

    init(_ start: [UInt8], _ encoding: String, unit: Int, isByteOrderMark: Bool = false) {
      self.start = start
      self.encoding = encoding
      self.unit = unit
      self.isByteOrderMark = isByteOrderMark
    }
  }

  /// Byte order marks, and `<` and `{` in encodings with wide units (XML 1.0 appendix F). The marks of UTF-32 begin with
  /// those of UTF-16.
  private static let marks: [Mark] = [
    Mark([0x00, 0x00, 0xFE, 0xFF], "UTF-32BE", unit: 4, isByteOrderMark: true),
    Mark([0xFF, 0xFE, 0x00, 0x00], "UTF-32LE", unit: 4, isByteOrderMark: true),
    Mark([0x00, 0x00, 0x00, 0x3C], "UTF-32BE", unit: 4), Mark([0x3C, 0x00, 0x00, 0x00], "UTF-32LE", unit: 4),
    Mark([0x00, 0x00, 0x00, 0x7B], "UTF-32BE", unit: 4), Mark([0x7B, 0x00, 0x00, 0x00], "UTF-32LE", unit: 4),
    Mark([0xEF, 0xBB, 0xBF], "UTF-8", unit: 1, isByteOrderMark: true),
    Mark([0xFE, 0xFF], "UTF-16BE", unit: 2, isByteOrderMark: true),
    Mark([0xFF, 0xFE], "UTF-16LE", unit: 2, isByteOrderMark: true),
    Mark([0x00, 0x3C], "UTF-16BE", unit: 2), Mark([0x3C, 0x00], "UTF-16LE", unit: 2),
    Mark([0x00, 0x7B], "UTF-16BE", unit: 2), Mark([0x7B, 0x00], "UTF-16LE", unit: 2),
  ]

  /// Returns the charset of a media type (RFC 9110 section 8.3.2); nil if it names none.
  static func charset(of contentType: String) -> String? {
    guard contentType.utf8.count <= 1024 else { return nil }
    return contentType.firstMatch(of: #/(?i);\s*charset\s*=\s*["']?\s*([A-Za-z0-9._:-]+)/#).map { String($0.1) }
  }

  private func declaredName(in content: ArraySlice<UInt8>) -> String? {
    guard let start = content.firstRange(of: "<?xml".utf8)?.lowerBound else { return nil }
    let text = String(decoding: content[start...], as: UTF8.self)
    let declaration = text[..<(text.firstRange(of: "?>")?.lowerBound ?? text.endIndex)]
    return declaration.firstMatch(of: #/\sencoding\s*=\s*["']\s*([A-Za-z0-9._:-]+)\s*["']/#).map { String($0.1) }
  }

  private func declared(_ name: String) -> State {
    let label = name.lowercased()
    if ["utf-8", "utf8"].contains(label) { return Self.utf8 }
    // The declaration is readable byte by byte, so the content is in none of these encodings.
    if ["utf-16", "utf16", "utf-32", "utf32", "ucs", "iso-10646", "unicode"].contains(where: label.hasPrefix) {
      note("declares the encoding \(name), but is UTF-8 and is read as UTF-8")
      return Self.utf8
    }
    let encoding = Self.supersets[label] ?? name
    guard let converter = CharsetConverter(encoding) else {
      note("declares the encoding \(PlainText.shortened(name, to: 64)), which is unknown; it is read as UTF-8")
      return Self.utf8
    }
    return CharsetConverter.isOfSingleBytes(encoding)
      ? .text(CharsetEvidence(converter, name: name)) : .declared(converter, name: name)
  }

  /// Other bytes than those of UTF-8 are windows-1252 in nearly all cases.
  private static var utf8: State { .text(CharsetEvidence(CharsetConverter("WINDOWS-1252"), name: nil)) }

  /// The encodings that these labels mean in practice (Encoding Standard section 4.2), by their `iconv` names.
  private static let supersets: [String: String] = [
    "iso-8859-1": "WINDOWS-1252", "latin1": "WINDOWS-1252", "us-ascii": "WINDOWS-1252", "ascii": "WINDOWS-1252",
    "iso-8859-9": "WINDOWS-1254", "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932", "x-sjis": "CP932",
    "windows-31j": "CP932", "ms932": "CP932", "x-euc-jp": "EUC-JP", "gb2312": "GB18030", "gbk": "GB18030",
    "x-gbk": "GB18030", "big5": "BIG5-HKSCS", "euc-kr": "CP949", "ks_c_5601-1987": "CP949", "x-cp1251": "WINDOWS-1251",
    "x-cp1250": "WINDOWS-1250", "windows-874": "CP874",
  ]
}
