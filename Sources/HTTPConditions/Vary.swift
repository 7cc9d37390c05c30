public import HTTPTypes

/// The `Vary` field of a response (RFC 9110 section 12.5.5): the request fields that selected the response.
///
/// `Vary: *` is not supported, because a response with it cannot be reused. nginx caches no response with a `Vary` over
/// 128 bytes.
///
///     var vary = Vary(.acceptEncoding)
///     vary.insert(.origin)
///     print(vary.fieldValue)  // Accept-Encoding, Origin
public struct Vary: Hashable, Sendable {
  /// The field names in the order of insertion, each once.
  public private(set) var names: [HTTPField.Name] = []

  /// Creates a field with the given names.
  ///
  /// - Parameter names: The field names; a repeated one counts once, ignoring case.
  public init(_ names: HTTPField.Name...) {
    for name in names { insert(name) }
  }

  /// Adds a field name unless it is already present.
  public mutating func insert(_ name: HTTPField.Name) {
    if !names.contains(name) { names.append(name) }
  }

  /// The field value, such as `Accept-Encoding, Origin`; empty without names, and then not to be sent.
  public var fieldValue: String { names.lazy.map(\.rawName).joined(separator: ", ") }
}
