public import News

/// A form of items other than the JSON of the API, such as the entries of a feed. Like that JSON, it is written once for
/// each version of an item, and kept in memory under the same budget.
public struct FragmentForm: Sendable {
  /// The name. Forms that write the same item differently have different names.
  let name: String
  let write: @Sendable (NewsItem) -> [UInt8]

  /// Creates a form.
  ///
  /// - Parameters:
  ///   - name: The name, which includes all that the bytes depend on besides the item.
  ///   - write: Writes an item, which has its `html`.
  public init(name: String, write: @escaping @Sendable (NewsItem) -> [UInt8]) {
    self.name = name
    self.write = write
  }
}
