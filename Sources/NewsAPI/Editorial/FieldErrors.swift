import News

/// The errors of one request. A response names the first 32 and the number of the others, so that its size is bounded.
struct FieldErrors: Sendable {
  static let maximumNamed = 32
  /// The maximum length of an unknown field's or parameter's name in a response, in Unicode scalars.
  static let maximumNameLength = 64

  /// The first errors.
  private(set) var named: [FieldError] = []
  private var unnamed = 0

  var isEmpty: Bool { named.isEmpty }

  /// The errors in the response: the named ones, then one entry for all others.
  var list: [FieldError] {
    unnamed == 0 ? named : named + [FieldError(field: "*", breaks: .unlisted(unnamed))]
  }

  mutating func append(_ field: String, _ rule: FieldRule) {
    if named.count < Self.maximumNamed {
      named.append(FieldError(field: field, breaks: rule))
    } else {
      unnamed += 1
    }
  }

  /// Adds a number of errors to a full list.
  mutating func append(unnamed count: Int) { unnamed += count }

  mutating func append(_ other: FieldErrors) {
    let room = Self.maximumNamed - named.count
    named += other.named.prefix(room)
    unnamed += max(0, other.named.count - room) + other.unnamed
  }

  /// Adds an error for each name, in the order of the names.
  mutating func append(unknown names: some Collection<String>, prefix: String, _ rule: FieldRule) {
    // The body limits the number of names only by its size, so only the first names are kept and sorted.
    let room = Self.maximumNamed - named.count
    var first: [String] = []
    for name in names where first.count < room || first.last.map({ name < $0 }) ?? false {
      first.insert(name, at: first.firstIndex { name < $0 } ?? first.endIndex)
      if first.count > room { first.removeLast() }
    }
    for name in first { append(prefix + Self.shortened(name), rule) }
    unnamed += names.count - first.count
  }

  /// Truncates a name to `maximumNameLength` scalars. A character may have any number of scalars, but a scalar has at
  /// most four bytes.
  static func shortened(_ name: some StringProtocol) -> String {
    String(String.UnicodeScalarView(name.unicodeScalars.prefix(maximumNameLength)))
  }
}
