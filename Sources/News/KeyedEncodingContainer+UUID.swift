import Foundation

/// Ids are written in lower case, as RFC 9562 section 4 requires; Foundation writes them in upper case. In this module these
/// methods are preferred, also in each `encode(to:)` that the compiler makes.
extension KeyedEncodingContainer {
  mutating func encode(_ id: UUID, forKey key: Key) throws {
    try encode(id.uuidString.lowercased(), forKey: key)
  }

  mutating func encodeIfPresent(_ id: UUID?, forKey key: Key) throws {
    try encodeIfPresent(id?.uuidString.lowercased(), forKey: key)
  }

  mutating func encode(_ ids: [UUID], forKey key: Key) throws {
    try encode(ids.map { $0.uuidString.lowercased() }, forKey: key)
  }
}
