import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The page with the form of an item.
struct EditorPage: Sendable {
  /// The number of files from which attachments can be chosen.
  static let fileCount = 24

  let form: ItemForm
  /// The item as it is stored; nil for a new one.
  var item: EditorialItem?
  /// The reason why the form was not saved.
  var problem: Problem?
  var notice: Notice?
  /// Whether the form has changes that were not saved.
  private(set) var isUnsaved = false

  init(form: ItemForm, item: EditorialItem? = nil, problem: Problem? = nil) {
    (self.form, self.item, self.problem) = (form, item, problem)
    isUnsaved = problem != nil
  }

  /// Creates the page that shows a form again.
  init(unsaved sent: EditorSubmission, item: EditorialItem? = nil) {
    self.init(form: sent.form, item: item, problem: sent.fileProblem)
    isUnsaved = true
  }

  /// Renders the page.
  ///
  /// - Parameters:
  ///   - topics: The topics that the key may give an item.
  ///   - files: The files from which attachments can be chosen.
  ///   - maximumBytes: The maximum size of a file, in bytes; 0 if the server keeps none.
  ///   - hasPreview: Whether the server has pages for readers.
  func response(
    _ pages: ConsolePages, _ visit: ConsoleVisit, _ topics: [PageTopic], _ files: [UsedMedia], maximumBytes: Int,
    hasPreview: Bool
  ) -> Response {
    var values = PageValues()
    values.set("notice", notice.map { pages.texts.text($0.textKey) })
    values.set("isUnsaved", isUnsaved)
    setItem(in: &values, pages, visit)
    setFields(in: &values, pages, topics)
    values.set("attachments", form.attachments.enumerated().map { self.attachment($1, $0, pages) })
    values.set("hasAttachments", !form.attachments.isEmpty)
    if visit.mayUpload, maximumBytes > 0 {
      values.set("mayUpload", true)
      values.set("accept", "image/*,audio/*,video/*,application/pdf")
    }
    values.set("files", files.map { pages.values(of: $0) })
    values.set("hasFiles", !files.isEmpty)
    if hasPreview { values.set("preview", pages.link(ConsolePath.preview)) }
    setErrors(in: &values, pages)
    setButtons(in: &values, pages, visit)
    let title = item.map { pages.headline(of: $0) } ?? pages.texts.text("new-item")
    return pages.page(
      "editor", title: title, status: problem.map { .init(code: $0.status) } ?? .ok, for: visit, in: .items, values)
  }

  private func setItem(in values: inout PageValues, _ pages: ConsolePages, _ visit: ConsoleVisit) {
    values.set("id", form.id?.uuidString.lowercased())
    values.set("revision", form.revision)
    guard let item else {
      values.set("action", pages.link(ConsolePath.items))
      return
    }
    let id = item.item.id
    func link(_ pattern: String) -> String { pages.link(ConsolePath.path(pattern, id: id)) }
    values.set("action", link(ConsolePath.item))
    values.set("itemID", id.uuidString.lowercased())
    values.set("history", link(ConsolePath.history))
    values.set("state", item.state.rawValue)
    values.set("stateTitle", pages.texts.text("state-\(item.state.rawValue)"))
    let edited = pages.date(item.edited)
    values.set("edited", edited.text)
    values.set("editedMachine", edited.machine)
    if item.state == .published { values.set("readerLink", pages.link("/items/\(id.uuidString.lowercased())")) }
    values.set("retractionReason", item.retractionReason)
    values.set("isErased", item.erased != nil)
    values.set("isAutosaved", item.state == .draft && problem == nil)
  }

  private func setFields(in values: inout PageValues, _ pages: ConsolePages, _ topics: [PageTopic]) {
    values.set("field", Dictionary(uniqueKeysWithValues: ItemForm.textFields.map { ($0, form.text($0)) }))
    values.set("breaking", form.isBreaking)
    // Topics that are not offered any more are kept, as the form has them.
    let others = form.topics.filter { slug in !topics.contains { $0.slug == slug } }
      .map { PageTopic(slug: $0, titles: [:]) }
    let choices = topics + others
    values.set("topics", choices.map { pages.values(of: $0, isSelected: form.topics.contains($0.slug)) })
    values.set("hasTopics", !choices.isEmpty)
  }

  private func setErrors(in values: inout PageValues, _ pages: ConsolePages) {
    guard let problem else { return }
    values.set("problem", pages.message(of: problem))
    var errors: [String: String] = [:]
    var others: [PageValues] = []
    for error in problem.errors ?? [] {
      let rule = pages.ruleText(error.rule)
      if ItemForm.textFields.contains(error.field) || error.field == "topics" {
        errors[error.field] = rule
      } else {
        var other = PageValues()
        other.set("otherError", "\(pages.fieldLabel(error.field)): \(rule)")
        others.append(other)
      }
    }
    values.set("errors", errors)
    values.set("otherErrors", others)
    values.set("hasOtherErrors", !others.isEmpty)
  }

  private func attachment(_ attachment: AttachmentForm, _ index: Int, _ pages: ConsolePages) -> PageValues {
    var values = PageValues()
    values.set("attachmentIndex", index)
    values.set("attachmentNumber", index + 1)
    values.set("isRemoved", attachment.isRemoved)
    for name in AttachmentForm.names { values.set("attachment-\(name)", attachment.values[name]) }
    values.set("thumbnail", pages.thumbnail(of: attachment.attachment))
    return values
  }

  /// Sets the buttons that the state of the item and the rights of the key allow. The server checks both again.
  private func setButtons(in values: inout PageValues, _ pages: ConsolePages, _ visit: ConsoleVisit) {
    let state = item?.state ?? .draft
    let mayChange = visit.mayPublish || state == .draft || state == .review
    let isOver = state == .retracted || item?.erased != nil
    values.set("isReadOnly", !mayChange || isOver)
    if !mayChange { values.set("readOnlyReason", pages.texts.text("read-only-rights")) }
    guard let item else {
      values.set("maySave", true)
      values.set("mayReview", true)
      values.set("mayPublish", visit.mayPublish)
      return
    }
    func link(_ pattern: String) -> String { pages.link(ConsolePath.path(pattern, id: item.item.id)) }
    if mayChange, !isOver {
      values.set("maySave", true)
      values.set("mayReview", state == .draft)
      values.set("mayPublish", visit.mayPublish && state != .published)
      values.set("mayWithdraw", state != .draft)
      values.set("retraction", link(ConsolePath.retraction))
    }
    if visit.mayPublish, item.erased == nil { values.set("erasure", link(ConsolePath.erasure)) }
  }
}

extension ConsolePages {
  /// Returns the address of the picture of an attachment, which need not be public; nil for another file.
  func thumbnail(of attachment: Attachment) -> String? {
    guard attachment.type.hasPrefix("image/") else { return nil }
    if let prefix = attachment.url.range(of: "/v1/media/"),
      let id = UUID(uuidString: String(attachment.url[prefix.upperBound...]))
    {
      return link(ConsolePath.path(ConsolePath.file, id: id))
    }
    return attachment.url.hasPrefix("https://") ? attachment.url : nil
  }
}
