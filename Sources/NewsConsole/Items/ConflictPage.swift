import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsPages

extension ConsolePages {
  /// Returns the page that compares a form with the item that someone else has changed since the form was made.
  ///
  /// - Parameters:
  ///   - sent: The form. Its revision is that of the item now.
  ///   - current: The item as it is stored now.
  func conflict(_ sent: EditorSubmission, _ current: EditorialItem, _ visit: ConsoleVisit) -> Response {
    var values = PageValues()
    let id = current.item.id
    values.set("action", link(ConsolePath.path(ConsolePath.item, id: id)))
    values.set("discard", link(ConsolePath.path(ConsolePath.item, id: id)))
    values.set("history", link(ConsolePath.path(ConsolePath.history, id: id)))
    values.set("sentAction", sent.action.rawValue)
    values.set("state", current.state.rawValue)
    values.set("stateTitle", texts.text("state-\(current.state.rawValue)"))
    let theirs = ItemForm(current)
    let (old, new) = (comparedTexts(of: theirs), comparedTexts(of: sent.form))
    values.set(
      "comparisons",
      zip(old, new).filter { $0.text != $1.text }.map { comparison($0.field, from: $0.text, to: $1.text) })
    values.set("isSame", zip(old, new).allSatisfy { $0.text == $1.text })
    values.set("hidden", hiddenFields(of: sent.form))
    let edited = date(current.edited)
    values.set("edited", edited.text)
    values.set("editedMachine", edited.machine)
    return page(
      "conflict", title: texts.text("conflict-title"), status: .preconditionFailed, for: visit, in: .items, values)
  }

  private func comparison(_ field: String, from old: String, to new: String) -> PageValues {
    let comparison = TextComparison(from: old, to: new)
    var values = PageValues()
    values.set("comparedField", fieldLabel(field))
    values.set("theirs", comparison.old(texts))
    values.set("mine", comparison.new(texts))
    return values
  }

  /// Returns all fields of a form as texts.
  private func comparedTexts(of form: ItemForm) -> [(field: String, text: String)] {
    let attachments = form.attachments.filter { !$0.isRemoved }.map { attachment in
      ["url", "alt", "caption", "credit"].compactMap { attachment.values[$0] }.joined(separator: " · ")
    }
    var compared: [(field: String, text: String)] = ItemForm.textFields.map { (field: $0, text: form.text($0)) }
    compared.append((field: "topics", text: form.topics.joined(separator: ", ")))
    compared.append((field: "breaking", text: texts.text(form.isBreaking ? "yes" : "no")))
    compared.append((field: "attachments", text: attachments.joined(separator: "\n")))
    return compared
  }

  /// Returns the fields of a form, for a form that sends them again.
  func hiddenFields(of form: ItemForm) -> [PageValues] {
    var fields: [(name: String, value: String)] = ItemForm.textFields.map { (name: $0, value: form.text($0)) }
    fields += form.topics.map { (name: "topics", value: $0) }
    if form.isBreaking { fields.append((name: "breaking", value: "on")) }
    if let revision = form.revision { fields.append((name: "revision", value: String(revision))) }
    for (index, attachment) in form.attachments.filter({ !$0.isRemoved }).enumerated() {
      fields += AttachmentForm.names.map { name in
        (name: AttachmentForm.fieldName(name, index), value: attachment.values[name] ?? "")
      }
    }
    return fields.filter { !$0.value.isEmpty }.map { field in
      var values = PageValues()
      values.set("hiddenName", field.name)
      values.set("hiddenValue", field.value)
      return values
    }
  }
}
