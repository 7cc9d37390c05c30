public import HTTPTypes

/// The `Vary` field of a response (RFC 9110 section 12.5.5): the request fields that chose the answer.
///
/// `Vary: *` is not offered: nothing that says so can be reused. nginx caches nothing with a `Vary` over 128 bytes.
public struct Vary: Hashable, Sendable {
  /// The field names in the order of insertion, each once.
  public private(set) var names: [HTTPField.Name] = []

  /// - Parameter names: Field names; a repeated one, in whatever case, counts once.
  public init(_ names: HTTPField.Name...) {
    for name in names { insert(name) }
  }

  /// Adds a field name if it is not there yet.
  public mutating func insert(_ name: HTTPField.Name) {
    if !names.contains(name) { names.append(name) }
  }

  /// The names as a list, such as `Accept-Encoding, Origin`; empty without any, and then not to be sent.
  public var fieldValue: String { names.lazy.map(\.rawName).joined(separator: ", ") }
}
