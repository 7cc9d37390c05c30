import HTTPTypes
import Hummingbird
import News
import NewsPages

/// The page that asks before an action that readers notice at once: the withdrawal of a published item, and the restoration
/// of an earlier version.
struct ConfirmationPage: Sendable {
  /// The name of the field with which the page confirms the action.
  static let field = "confirmed"

  /// The name of the action, with which the keys of its texts begin.
  private let name: String
  private let item: EditorialItem
  private let target: String
  /// The fields of the form that asked for the action.
  private let fields: [(name: String, value: String)]
  /// The page to which an editor returns who does not confirm; nil for the editor's form with what was typed.
  private let cancel: String?
  private var revision: Int?

  /// Creates the question before an item is withdrawn. Changes that were typed in the form are saved with it.
  init(withdrawing item: EditorialItem, _ sent: EditorSubmission) {
    (name, self.item, cancel) = ("withdrawal", item, nil)
    target = ConsolePath.path(ConsolePath.item, id: item.item.id)
    fields = sent.form.hiddenFields + [(name: "state", value: sent.state?.rawValue ?? "")]
  }

  /// Creates the question before a revision is restored.
  init(restoring revision: Int, of item: EditorialItem) {
    (name, self.item, self.revision) = ("restoration", item, revision)
    target = ConsolePath.path(ConsolePath.restoration, id: item.item.id, revision: revision)
    fields = [(name: "revision", value: "\(item.revision)")]
    cancel = ConsolePath.path(ConsolePath.history, id: item.item.id)
  }

  /// Renders the page.
  func response(_ pages: ConsolePages, _ visit: ConsoleVisit) -> Response {
    var values = PageValues()
    let names = ["revision": revision.map { "\($0)" } ?? ""]
    values.set("action", pages.link(target))
    values.set("itemTitle", pages.headline(of: item))
    values.set("itemLanguage", item.item.language)
    values.set("explanation", pages.texts.text("\(name)-text"))
    values.set("isLive", item.state == .published && cancel != nil)
    values.set("button", pages.texts.text("\(name)-button", names))
    values.set("hidden", pages.hiddenFields(fields + [(name: Self.field, value: "on")]))
    values.set("cancel", cancel.map { pages.link($0) })
    values.set("isEditing", cancel == nil)
    return pages.page(
      "confirmation", title: pages.texts.text("\(name)-title", names), for: visit, in: .items, values)
  }
}
