import Foundation
import HTTPEdge
import News
import NewsStore

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
}

extension EditorialItem {
  /// The JSON of the item in editorial responses, as a value to patch.
  var json: [String: JSONValue] {
    get throws {
      guard case .object(let fields) = try JSONValue.parse(try NewsJSON.encode(self)) else { return [:] }
      return fields
    }
  }
}
