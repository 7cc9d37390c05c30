import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsPages

/// The comparison of a form with the item that someone else has changed since the form was made.
struct ConflictPage: Sendable {
  let sent: EditorSubmission
  /// The item as it is stored now.
  let stored: EditorialItem
  /// The author of the stored version; nil if unknown.
  let editor: Editor?

  /// Whether the item is as the form would make it, so that nothing is left to decide: the form was sent twice.
  var isResolved: Bool {
    let form = sent.action == .publish ? sent.form.withoutSchedule() : sent.form
    var content = ItemForm(stored).content
    // An item without a date of its own receives one when it is published.
    if form.text("date").isBlank { content["date"] = .null }
    return sent.wantedState(of: stored.state) == stored.state && content == form.content
  }

  /// Renders the page.
  func response(_ pages: ConsolePages, _ visit: ConsoleVisit) -> Response {
    var values = PageValues()
    let id = stored.item.id
    values.set("action", pages.link(ConsolePath.path(ConsolePath.item, id: id)))
    values.set("discard", pages.link(ConsolePath.path(ConsolePath.item, id: id)))
    values.set("history", pages.link(ConsolePath.path(ConsolePath.history, id: id)))
    values.set("sentAction", sent.action.rawValue)
    values.set("sentTitle", pages.texts.text("\(sent.action.rawValue)-mine"))
    values.set("problem", pages.texts.text("conflict-text"))
    setStored(in: &values, pages)
    let pairs = zip(texts(of: ItemForm(stored), pages), texts(of: sent.form, pages))
      .filter { !$0.text.utf8.elementsEqual($1.text.utf8) }
    values.set("comparisons", pairs.map { comparison($0.field, theirs: $0.text, mine: $1.text, pages) })
    values.set("isSame", pairs.isEmpty)
    var form = sent.form
    (form.id, form.revision) = (nil, stored.revision)
    values.set("hidden", pages.hiddenFields(form.hiddenFields))
    return pages.page(
      "conflict", title: pages.texts.text("conflict-title"), status: .preconditionFailed, for: visit, in: .items,
      values)
  }

  private func setStored(in values: inout PageValues, _ pages: ConsolePages) {
    let state = pages.texts.text("state-\(stored.state.rawValue)")
    values.set("state", stored.state.rawValue)
    values.set("stateTitle", state)
    if sent.action == .save, stored.state != sent.state ?? .draft {
      values.set("stateChange", pages.texts.text("conflict-state", ["state": state]))
    }
    values.set("storedBy", pages.texts.text("stored-by", ["name": pages.name(of: editor)]))
    pages.setTime("edited", stored.edited, in: &values)
  }

  private func comparison(_ field: String, theirs: String, mine: String, _ pages: ConsolePages) -> PageValues {
    let comparison = TextComparison(from: theirs, to: mine)
    var values = PageValues()
    values.set("comparedName", field)
    values.set("comparedField", pages.fieldLabel(field))
    values.set("theirs", comparison.old(pages.texts))
    values.set("mine", comparison.new(pages.texts))
    values.set("hasTheirs", !theirs.isEmpty)
    values.set("hasMine", !mine.isEmpty)
    return values
  }

  /// Returns all fields of a form as texts.
  private func texts(of form: ItemForm, _ pages: ConsolePages) -> [(field: String, text: String)] {
    let attachments = form.sentAttachments.map { sent in
      ["url", "alt", "caption", "credit"].compactMap { sent.attachment.values[$0] }.joined(separator: " · ")
    }
    var compared: [(field: String, text: String)] = ItemForm.textFields.map { (field: $0, text: form.text($0)) }
    compared.append((field: "topics", text: form.topics.joined(separator: ", ")))
    compared.append((field: "breaking", text: pages.texts.text(form.isBreaking ? "yes" : "no")))
    compared.append((field: "attachments", text: attachments.joined(separator: "\n")))
    return compared
  }
}

extension ConsolePages {
  /// Returns fields for a form that sends them again.
  func hiddenFields(_ fields: [(name: String, value: String)]) -> [PageValues] {
    fields.map { field in
      var values = PageValues()
      values.set("hiddenName", field.name)
      values.set("hiddenValue", field.value)
      return values
    }
  }

  /// Returns the name of the author of a write, such as that of a key.
  func name(of editor: Editor?) -> String {
    guard let editor else { return texts.text("editor-unknown") }
    return editor.name ?? texts.texts["editor-\(editor.kind)"] ?? editor.kind
  }
}
