public import Foundation

/// The author of a write.
///
///     let editor = Editor.key("desk")
///     print(editor.kind, editor.name ?? "")  // key desk
public struct Editor: Sendable, Hashable, Codable {
  /// The kind of the author: `key`, `import` or `schedule`. A newer server may send other kinds.
  public var kind: String
  /// The name of the key; nil for kinds without names.
  public var name: String?

  /// Creates an author.
  public init(kind: String, name: String? = nil) {
    self.kind = kind
    self.name = name
  }

  /// An editor or a program with an API key.
  public static func key(_ name: String) -> Editor { Editor(kind: "key", name: name) }
  /// An import.
  public static let `import` = Editor(kind: "import")
  /// The schedule: a publication at ``EditorialItem/publishAt``, or the expiry at ``EditorialItem/expireAt``.
  public static let schedule = Editor(kind: "schedule")
}

/// A value of an item's field in its history.
///
///     let value = FieldValue.texts(["politics", "sport"])
public enum FieldValue: Sendable, Equatable {
  /// A text, or a date as RFC 3339.
  case text(String)
  case texts([String])
  case flag(Bool)
  case attachments([Attachment])
}

extension FieldValue: Codable {
  /// Decodes a string, a Boolean, or an array of strings or attachments.
  ///
  /// - Throws: `DecodingError` for other values.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let texts = try? container.decode([String].self) {
      self = .texts(texts)
    } else {
      self = .attachments(try container.decode([Attachment].self))
    }
  }

  /// Encodes the value alone.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .texts(let texts): try container.encode(texts)
    case .flag(let flag): try container.encode(flag)
    case .attachments(let attachments): try container.encode(attachments)
    }
  }
}

/// The change of a field by a write.
///
///     func isCorrection(_ change: FieldChange) -> Bool { change.difference != nil }
public struct FieldChange: Sendable, Equatable, Codable {
  /// The name of the field, as in ``EditorialItem``.
  public var field: String
  /// The former value; nil if there was none, or if `difference` contains it.
  public var old: FieldValue?
  /// The new value; nil if there is none, or if `difference` contains it.
  public var new: FieldValue?
  /// The difference between two values of a long text: `text`, `summary` or `html`.
  public var difference: TextDifference?

  /// Creates a change. Long texts that were neither added nor removed as a whole are compared.
  public init(field: String, old: FieldValue?, new: FieldValue?) {
    self.field = field
    if ["text", "summary", "html"].contains(field), case .text(let before)? = old, case .text(let after)? = new {
      difference = TextDifference(from: before, to: after)
    } else {
      (self.old, self.new) = (old, new)
    }
  }
}

/// A write in the history of an item.
///
///     func sentence(_ entry: HistoryEntry) -> String {
///       let author = entry.editor?.name ?? entry.editor?.kind ?? "unknown"
///       return "\(author) changed \(entry.changes.map(\.field).joined(separator: ", "))"
///     }
public struct HistoryEntry: Sendable, Equatable, Codable {
  /// The id of the item.
  public var item: UUID
  /// The revision that the write made, 1 for the creation.
  public var revision: Int
  /// The time of the write, by the database's clock.
  public var at: Date
  /// The author; nil if the item was changed in the database by other programs.
  public var editor: Editor?
  /// The state of the item after the write.
  public var state: EditorialItem.State
  /// The changed fields. A creation has none.
  public var changes: [FieldChange]

  /// Creates an entry without validation.
  public init(
    item: UUID, revision: Int, at: Date, editor: Editor?, state: EditorialItem.State, changes: [FieldChange]
  ) {
    self.item = item
    self.revision = revision
    self.at = at
    self.editor = editor
    self.state = state
    self.changes = changes
  }
}

/// The body of `GET /v1/editorial/history` and of the history of an item.
///
///     let list = try NewsJSON.decode(HistoryList.self, from: Data(#"{"entries":[]}"#.utf8))
///     print(list.entries.count)  // 0
public struct HistoryList: Sendable, Equatable, Codable {
  /// The writes, newest first.
  public var entries: [HistoryEntry]
  /// true on the last page of an item whose older writes are not stored, because they were removed, for instance; nil on other
  /// pages, and in the history of all items.
  public var incomplete: Bool?

  /// Creates a page.
  public init(entries: [HistoryEntry], incomplete: Bool? = nil) {
    (self.entries, self.incomplete) = (entries, incomplete)
  }
}
