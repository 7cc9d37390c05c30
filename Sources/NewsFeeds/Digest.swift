internal import Crypto
internal import Foundation
internal import News

/// The hashes that identify entries and their content.
enum Digest {
  /// The namespace of our name-based UUIDs (RFC 9562 section 5.5), drawn once at random. A different one would change
  /// the id of every imported item.
  private static let namespace: [UInt8] = [
    0x5B, 0x0E, 0x6C, 0x1D, 0x9A, 0x37, 0x4F, 0x52, 0xA8, 0x14, 0x2E, 0xD3, 0x70, 0xC9, 0x46, 0x8B,
  ]

  /// Returns a version 5 UUID for the names of a feed and an entry.
  static func identifier(source: String, guid: String) -> UUID {
    var hash = Insecure.SHA1()
    hash.update(data: namespace)
    for part in [source, guid] { hash.update(part) }
    var bytes = Array(hash.finalize().prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// Returns a name for an entry without guid and link. It depends on the text only if there is nothing else.
  static func fallbackName(title: String?, date: Date?, text: String) -> String {
    var hash = SHA256()
    for part in [title ?? "", date.map { RFC3339.string(from: $0) } ?? ""] { hash.update(part) }
    if title == nil, date == nil { hash.update(text) }
    return "sha256:" + hash.finalize().hexadecimal
  }

  /// Returns a digest of the source's content, before it is sanitised. A new version of the sanitiser therefore does
  /// not look like a change at the source. Equal dates in different formats give equal digests.
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
      // A file without them has the digest that it had before they were read.
      for (name, text) in [("caption", file.caption), ("credit", file.credit)] {
        guard let text else { continue }
        hash.update(name)
        hash.update(text)
      }
    }
    return Data(hash.finalize())
  }
}

extension Sequence<UInt8> {
  /// The bytes in hexadecimal, two digits each in lower case.
  var hexadecimal: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}

extension HashFunction {
  /// Hashes a text after its length, so that adjacent texts cannot run together. A missing text differs from an empty
  /// one.
  fileprivate mutating func update(_ text: String?) {
    var length = Int64(text.map { $0.utf8.count } ?? -1).bigEndian
    withUnsafeBytes(of: &length) { update(bufferPointer: $0) }
    update(data: Array((text ?? "").utf8))
  }
}
