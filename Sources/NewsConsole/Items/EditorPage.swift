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
  static let fileCount = 12

  let form: ItemForm
  /// The item as it is stored; nil for a new one.
  var item: EditorialItem?
  /// The reason why the form was not saved.
  var problem: Problem?
  /// The files of the form that were not stored. The status of the page is that of the last one.
  private var refusals: [FileRefusal] = []
  var notice: Notice?
  /// The request for an alert to the item; nil if there is none, or if the key may not send alerts.
  var alert: AlertRequest?
  /// Whether the key may send alerts, and a push service is in use.
  var mayAlert = false
  /// Whether the form has changes that were not saved.
  private(set) var isUnsaved = false

  init(form: ItemForm, item: EditorialItem? = nil, problem: Problem? = nil) {
    (self.form, self.item, self.problem) = (form, item, problem)
    isUnsaved = problem != nil
  }

  /// Creates the page that shows a form again.
  ///
  /// - Parameter problem: The reason why the form was not saved, in place of the files that were refused.
  init(unsaved sent: EditorSubmission, item: EditorialItem? = nil, problem: Problem? = nil) {
    self.init(form: sent.form, item: item, problem: problem ?? sent.refusals.last?.problem)
    if problem == nil { refusals = sent.refusals }
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
    if visit.mayUpload, maximumBytes > 0 {
      values.set("mayUpload", true)
      values.set("accept", "image/*,audio/*,video/*,application/pdf")
    }
    values.set("files", files.map { pages.values(of: $0) })
    values.set("hasFiles", !files.isEmpty)
    if hasPreview {
      let path = item.map { ConsolePath.path(ConsolePath.itemPreview, id: $0.item.id) } ?? ConsolePath.preview
      values.set("preview", pages.link(path))
      if let item, item.state == .published {
        values.set("readerLink", pages.link("/items/\(item.item.id.uuidString.lowercased())"))
      }
    }
    setErrors(in: &values, pages)
    setButtons(in: &values, pages, visit)
    setAlert(in: &values, pages, visit)
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
    pages.setTime("edited", item.edited, in: &values)
    values.set("retractionReason", item.retractionReason)
    values.set("isErased", item.erased != nil)
    values.set("isAutosaved", item.state == .draft && problem == nil)
  }

  private func setFields(in values: inout PageValues, _ pages: ConsolePages, _ topics: [PageTopic]) {
    values.set("field", Dictionary(uniqueKeysWithValues: ItemForm.textFields.map { ($0, form.text($0)) }))
    let errors = errorTexts(pages)
    values.set("times", ItemForm.timeFields.map { time($0, errors, pages) })
    values.set("attachments", form.attachments.enumerated().map { attachment($1, $0, errors, pages) })
    values.set("hasAttachments", !form.attachments.isEmpty)
    values.set("breaking", form.isBreaking)
    values.set("hasHTML", item?.item.html != nil)
    values.set("removesHTML", form.htmlChoice == .remove)
    values.set("keepsHTML", form.htmlChoice == .keep)
    pages.setTopics(topics, selected: form.topics, in: &values)
  }

  private func setErrors(in values: inout PageValues, _ pages: ConsolePages) {
    guard let problem else { return }
    guard refusals.isEmpty else {
      values.set("problem", pages.texts.text("files-refused"))
      values.set("problemFields", refusals.map { pages.problemField($0) })
      values.set("hasProblemFields", true)
      return
    }
    values.set("problem", pages.message(of: problem))
    let errors = ItemForm.inOrder(problem.errors ?? [])
    values.set("errors", errorTexts(pages))
    values.set("problemFields", errors.map { pages.problemField($0, id: elementID(of: $0.field)) })
    values.set("hasProblemFields", !errors.isEmpty)
  }

  /// Returns the errors by the id of the element that they are about.
  private func errorTexts(_ pages: ConsolePages) -> [String: String] {
    let pairs = (problem?.errors ?? []).compactMap { error in
      elementID(of: error.field).map { ($0, pages.text(RuleText(error))) }
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Returns the id of the element of a field of the API, such as `attachments[0].alt`; nil for a field without one.
  private func elementID(of field: String) -> String? {
    if ItemForm.textFields.contains(field) || field == "topics" || field == "attachments" { return field }
    guard let match = field.wholeMatch(of: /attachments\[([0-9]+)\]\.(alt|caption|credit)/),
      let position = Int(match.1), let sent = form.sentAttachments.dropFirst(position).first
    else { return nil }
    return AttachmentForm.fieldName(String(match.2), sent.index)
  }

  private func time(_ name: String, _ errors: [String: String], _ pages: ConsolePages) -> PageValues {
    var values = PageValues()
    values.set("timeName", name)
    values.set("timeLabel", pages.fieldLabel(name))
    values.set("timeValue", form.text(name))
    values.set("timeNote", name == "date" ? pages.texts.text("date-hint") : nil)
    values.set("timeError", errors[name])
    return values
  }

  private func attachment(
    _ attachment: AttachmentForm, _ index: Int, _ errors: [String: String], _ pages: ConsolePages
  ) -> PageValues {
    var values = PageValues()
    values.set("attachmentIndex", index)
    values.set("attachmentNumber", index + 1)
    values.set("isRemoved", attachment.isRemoved)
    for name in AttachmentForm.names {
      values.set("attachment-\(name)", attachment.values[name])
      values.set("\(name)Error", errors[AttachmentForm.fieldName(name, index)])
    }
    values.set("thumbnail", pages.thumbnail(of: attachment.attachment))
    return values
  }

  /// Sets the buttons that the state of the item and the rights of the key allow. The server checks both again.
  private func setButtons(in values: inout PageValues, _ pages: ConsolePages, _ visit: ConsoleVisit) {
    let state = item?.state ?? .draft
    let mayChange = visit.mayPublish || state == .draft || state == .review
    let isOver = state == .retracted || item?.erased != nil
    values.set("isReadOnly", !mayChange || isOver)
    if state == .retracted {
      values.set("readOnlyReason", pages.texts.text("read-only-retracted"))
    } else if !mayChange {
      values.set("readOnlyReason", pages.texts.text("read-only-rights"))
    }
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

  /// Sets the state of the alert, or the ways to ask for it: with the publication, and on a page of its own afterwards.
  private func setAlert(in values: inout PageValues, _ pages: ConsolePages, _ visit: ConsoleVisit) {
    if let alert, let item, !alert.isUnused {
      pages.set(alert, of: item, in: &values)
    } else if mayAlert {
      if let item, item.state == .published {
        values.set("alertLink", pages.link(ConsolePath.path(ConsolePath.alert, id: item.item.id)))
      } else if visit.mayPublish, item?.state != .retracted, item?.erased == nil {
        values.set("offersAlert", true)
        values.set("requestsAlert", form.requestsAlert)
      }
    }
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
