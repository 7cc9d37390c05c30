import Foundation
import HTTPEdge
import News
import NewsStore

/// The body of a batch: writes of different items.
struct BatchBody {
  /// The write of an entry.
  enum Operation: String, CaseIterable {
    case create, replace, modify, retract
  }

  /// An entry. The fields of its item are checked later, because an error in them concerns only the entry.
  struct Entry {
    let operation: Operation
    /// The id of the item; nil for a creation whose id the server chooses.
    let id: UUID?
    let revision: Int?
    /// The members of `item` or `patch`.
    let fields: [String: JSONValue]
    let reason: String?
  }

  let isAtomic: Bool
  let entries: [Entry]

  /// - Throws: `ProblemError`, 422, which names the invalid fields, such as `entries[2].op`.
  init(_ fields: [String: JSONValue]) throws {
    var reader = FieldReader(fields)
    let rule: FieldRule = "must be an array of 1 to \(NewsStore.largestBatch) entries"
    isAtomic = reader.bool("atomic") ?? false
    let elements = reader.value("entries", rule: rule) { value -> [JSONValue]? in
      if case .array(let elements) = value, 1...NewsStore.largestBatch ~= elements.count { elements } else { nil }
    }
    if fields["entries"] == nil { reader.refuse("entries", rule) }
    var ids: Set<UUID> = []
    entries = (elements ?? []).enumerated().compactMap { index, element in
      let name = "entries[\(index)]"
      guard case .object(let members) = element else {
        reader.refuse(name, "must be an object")
        return nil
      }
      var entry = FieldReader(members, prefix: name + ".")
      let read = Entry(&entry)
      if let id = read?.id, !ids.insert(id).inserted { entry.refuse("id", "must not be that of an earlier entry") }
      entry.finish()
      reader.add(entry.errors)
      return read
    }
    reader.finish()
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
  }
}

extension BatchBody.Entry {
  /// Reads the structure of an entry.
  ///
  /// - Returns: nil if it has no known operation, which is an error.
  fileprivate init?(_ reader: inout FieldReader) {
    let rule: FieldRule = "must be one of \(BatchBody.Operation.allCases.map(\.rawValue).joined(separator: ", "))"
    guard let operation: BatchBody.Operation = reader.choice("op", rule: rule) else {
      if reader.errors.isEmpty { reader.refuse("op", rule) }
      // Whatever else the entry has depends on its operation.
      reader.ignore("id", "revision", "item", "patch", "reason")
      return nil
    }
    self.operation = operation
    var fields: [String: JSONValue] = [:]
    switch operation {
    case .create, .replace: fields = reader.members("item")
    case .modify: fields = reader.members("patch")
    case .retract: break
    }
    let id = reader.id("id")
    // The id of a creation may be in its item, as in a request of its own.
    let inner = operation == .create ? fields["id"].flatMap { $0.id } : nil
    self.id = id ?? inner
    if operation != .create {
      if id == nil, reader.errors.isEmpty { reader.refuse("id", .required) }
      revision = reader.integer("revision", in: 1...Int.max)
    } else {
      revision = nil
    }
    reason = operation == .retract ? reader.text("reason", maximumBytes: 512) : nil
    self.fields = fields
  }
}

extension FieldReader {
  /// Reads a UUID.
  mutating func id(_ name: String) -> UUID? {
    value(name, rule: "must be a UUID") { $0.id }
  }

  /// Reads a required object.
  fileprivate mutating func members(_ name: String) -> [String: JSONValue] {
    let members = object(name)
    if members == nil, errors.isEmpty { refuse(name, "must be an object") }
    return members ?? [:]
  }
}

extension JSONValue {
  /// The value as a UUID; nil for anything else.
  fileprivate var id: UUID? {
    if case .string(let text) = self { UUID(uuidString: text) } else { nil }
  }
}
