/// Tables in a form that parsers of HTML do not rearrange: rows and cells are inside of a table, and all words inside of
/// cells.
extension FragmentBuilder {
  private static let groups: Set<String> = ["table", "tbody", "tfoot", "thead"]
  private static let parents: [String: Set<String>] = [
    "caption": ["table"], "tbody": ["table"], "tfoot": ["table"], "thead": ["table"], "tr": groups,
    "td": groups.union(["tr"]), "th": groups.union(["tr"]),
  ]

  /// The tag of the innermost element that is in the fragment.
  private var parent: String? { open.last { $0.tag != nil }?.tag }

  /// Whether the next content is directly inside of a table or row.
  var isBetweenCells: Bool { openTables > 0 && parent.map { Self.groups.contains($0) || $0 == "tr" } == true }

  /// The rule of an element. A row outside of a table becomes a block, and a cell only separates its content.
  func placed(_ rule: ElementRules.Rule) -> ElementRules.Rule {
    guard let tag = rule.tag, let parents = Self.parents[tag] else { return rule }
    if openTables > 0, let table = open.lastIndex(where: { $0.tag == "table" }),
      let index = open[table...].firstIndex(where: { $0.isImplied && $0.tag != nil })
    {
      unwrap(from: index)
      while open.last?.isImplied == true, open.last?.tag == nil { open.removeLast() }
    }
    if openTables > 0, let parent, parents.contains(parent) { return rule }
    return rule.layout == .cell ? ElementRules.custom : ElementRules.styledBlock
  }

  /// Opens a cell for content that is directly inside of a table or row, and a row for the cell.
  ///
  /// - Parameter tag: The tag of the content; nil for words.
  func openCell(for tag: String? = nil) {
    guard isBetweenCells, tag.map({ Self.parents[$0] == nil }) ?? true, nesting < Self.maximumNesting - 1 else {
      return
    }
    for tag in parent == "tr" ? ["td"] : ["tr", "td"] {
      var element = OpenElement(
        name: "", rule: nil, treatment: .written(tag: tag, start: output.count, hasID: false), outside: outside)
      Markup.appendTag(tag, [], to: &output)
      nesting += 1
      element.content = output.count
      element.isImplied = true
      open.append(element)
      noteTag(nil)
    }
  }
}
