public import News

/// A form of items, such as their JSON or the entries of a feed. It is written once for each version of an item, and kept
/// in memory under one budget with all other forms.
public struct FragmentForm: Sendable {
  /// The JSON of the API without `html`.
  static let json = FragmentForm(isJSON: true, name: "json", html: false) { $0.fragment }
  /// The JSON of the API with `html`.
  static let jsonWithHTML = FragmentForm(isJSON: true, name: "json+html", html: true) { $0.fragment }

  /// Whether the form is the JSON of the API.
  let isJSON: Bool
  /// The name. Forms that write the same item differently have different names.
  let name: String
  /// Whether an item has its `html` when it is written.
  package let html: Bool
  let write: @Sendable (NewsItem) -> [UInt8]

  /// Creates a form.
  ///
  /// - Parameters:
  ///   - name: The name, which includes all that the bytes depend on besides the item.
  ///   - html: Whether an item has its `html` when it is written.
  ///   - write: Writes an item.
  public init(name: String, html: Bool, write: @escaping @Sendable (NewsItem) -> [UInt8]) {
    self.init(isJSON: false, name: name, html: html, write: write)
  }

  private init(isJSON: Bool, name: String, html: Bool, write: @escaping @Sendable (NewsItem) -> [UInt8]) {
    self.isJSON = isJSON
    self.name = name
    self.html = html
    self.write = write
  }

  /// The name of the form in which a version of an item is kept. An item without `html` has one JSON only.
  func name(for item: ItemVersion) -> String { isJSON && !item.hasHTML ? Self.json.name : name }
}

/// The forms of the items of a body. That of the first item may differ from that of all others.
package struct FragmentForms: Sendable {
  package let first: FragmentForm
  package let others: FragmentForm

  package init(first: FragmentForm, others: FragmentForm) {
    self.first = first
    self.others = others
  }

  /// Creates the forms of items of which each has the same one.
  package init(_ form: FragmentForm) { self.init(first: form, others: form) }

  /// The JSON of the API, with or without `html`.
  package static func json(html: Bool) -> FragmentForms { FragmentForms(html ? .jsonWithHTML : .json) }

  subscript(index: Int) -> FragmentForm { index == 0 ? first : others }
}
