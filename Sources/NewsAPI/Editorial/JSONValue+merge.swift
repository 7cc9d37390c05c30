import Foundation
import HTTPEdge
import News

extension JSONValue {
  /// Applies a JSON Merge Patch (RFC 7396 section 2).
  func merged(with patch: JSONValue) -> JSONValue {
    guard case .object(let changes) = patch else { return patch }
    var target: [String: JSONValue] = if case .object(let fields) = self { fields } else { [:] }
    for (key, change) in changes {
      target[key] = change == .null ? nil : (target[key] ?? .null).merged(with: change)
    }
    return .object(target)
  }

  /// Returns the members of a resource's JSON after a patch.
  ///
  /// - Throws: `EncodingError`, or the error of a value that is nested too deeply.
  static func members(
    of resource: some Encodable, patchedWith patch: [String: JSONValue]
  ) throws -> [String: JSONValue] {
    let json = try JSONValue.parse(try NewsJSON.encode(resource))
    // A patch that is an object makes an object.
    guard case .object(let fields) = json.merged(with: .object(patch)) else { return [:] }
    return fields
  }
}
