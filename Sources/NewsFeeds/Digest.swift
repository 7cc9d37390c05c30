internal import Crypto
internal import Foundation
internal import News

/// The hashes that tell entries and their states apart.
enum Digest {
  /// The namespace of our name-based UUIDs (RFC 9562, section 5.5), drawn once at random; another one would give every
  /// imported item another id.
  private static let namespace: [UInt8] = [
    0x5B, 0x0E, 0x6C, 0x1D, 0x9A, 0x37, 0x4F, 0x52, 0xA8, 0x14, 0x2E, 0xD3, 0x70, 0xC9, 0x46, 0x8B,
  ]

  /// UUID version 5 of a feed's name and an entry's.
  static func identifier(source: String, guid: String) -> UUID {
    var hash = Insecure.SHA1()
    hash.update(data: namespace)
    for part in [source, guid] { hash.update(part) }
    var bytes = Array(hash.finalize().prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// The name of an entry that has neither guid nor link.
  static func fallbackName(title: String?, date: Date?) -> String {
    var hash = SHA256()
    for part in [title ?? "", date.map { RFC3339.string(from: $0) } ?? ""] { hash.update(part) }
    return "sha256:" + hash.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// What the source says, not what is made of it, so that a later version of the sanitiser does not look like a
  /// change of the source. Dates count by their moment, however they are written.
  static func content(of raw: RawEntry, date: Date?) -> Data {
    var hash = SHA256()
    hash.update(date.map { RFC3339.string(from: $0) })
    for text in [raw.title, raw.summary, raw.content] {
      hash.update(text?.kind.rawValue)
      hash.update(text?.value)
    }
    for field in [raw.text, raw.link, raw.base, raw.language] { hash.update(field) }
    for list in [raw.categories, raw.authors] {
      hash.update(String(list.count))
      for value in list { hash.update(value) }
    }
    hash.update(String(raw.breaking))
    for file in raw.attachments {
      for field in [file.url, file.type, file.alt, file.sha256] { hash.update(field) }
      for number in [file.bytes, file.width, file.height] { hash.update(number.map { String($0) }) }
    }
    return Data(hash.finalize())
  }
}

extension HashFunction {
  /// With its length in front, so that neighbours cannot run together, and unlike an empty text where it is missing.
  fileprivate mutating func update(_ text: String?) {
    var length = Int64(text.map { $0.utf8.count } ?? -1).bigEndian
    withUnsafeBytes(of: &length) { update(bufferPointer: $0) }
    update(data: Array((text ?? "").utf8))
  }
}
