import Foundation
import HTTPEdge
import MediaFiles
import News
import NewsAPI
import NewsStore

/// The editor's form that was sent, with the button that has sent it.
struct EditorSubmission: Sendable {
  /// A button of the form.
  enum Action: String, Sendable {
    /// Saves the item in the state that it has.
    case save
    case review, publish, schedule, withdraw
    /// Adds files to the form without saving the item.
    case attach
    /// Shows the form again, with the typed texts.
    case edit

    /// The sentence after the write.
    var notice: Notice {
      switch self {
      case .save, .attach, .edit: .saved
      case .review: .sentToReview
      case .publish: .published
      case .schedule: .scheduled
      case .withdraw: .withdrawn
      }
    }
  }

  var form: ItemForm
  let action: Action
  /// The state of the item when the form was made; nil for a new item.
  let state: EditorialItem.State?
  /// Whether the form comes from the page that asks before an action.
  let isConfirmed: Bool
  /// The files that were not stored.
  private(set) var refusals: [FileRefusal] = []

  /// Whether the form is only to be shown again.
  var isUnsaved: Bool { action == .attach || action == .edit || !refusals.isEmpty }

  /// Reads the form and stores its files.
  ///
  /// - Parameter storesFiles: Whether files are stored. Otherwise they are skipped.
  /// - Throws: `FormError`; `StoreError`.
  init(
    _ parts: MultipartReader, _ editorial: EditorialAPI, storesFiles: Bool = true, _ context: APIContext
  ) async throws {
    var fields = FormFields()
    var files: [Attachment] = []
    while let part = try await parts.nextPart() {
      switch part {
      case .field(let name, let value): fields.add(name, value)
      case .file(let file):
        guard storesFiles else { continue }
        switch try await editorial.upload(file, context) {
        case .success(let attachment): files.append(attachment)
        case .failure(let refusal): refusals.append(refusal)
        }
      }
    }
    var form = ItemForm(fields)
    for id in fields.all("choose").compactMap({ UUID(uuidString: $0) }) {
      do {
        files.append(editorial.attachment(try await editorial.store.editorialMedia(id, for: context.access)))
      } catch StoreError.notFound {
        // The file was removed since the form was made.
        refusals.append(FileRefusal(name: nil, problem: ProblemError.notFound.problem))
      }
    }
    // An address in a form may be as long as a text, so that it is compared as bytes and not hashed.
    let known = form.attachments.compactMap { $0.values["url"]?.utf8 }
    form.attachments += files.filter { file in !known.contains { $0.elementsEqual(file.url.utf8) } }
      .map { AttachmentForm($0) }
    self.form = form
    action = fields.first("action").flatMap { Action(text: $0) } ?? .save
    state = fields.first("state").flatMap { EditorialItem.State(text: $0) }
    isConfirmed = fields.first(ConfirmationPage.field) != nil
  }

  /// Returns the state that the action gives an item.
  ///
  /// - Parameter state: The state of the item before.
  func wantedState(of state: EditorialItem.State) -> EditorialItem.State {
    switch action {
    case .review: .review
    case .publish: .published
    case .schedule: .scheduled
    case .withdraw: .draft
    case .save, .attach, .edit: state
    }
  }

  /// Returns the members of the item or of the patch that the action writes.
  ///
  /// - Parameter stored: The item that the patch changes; nil for a new item.
  func members(changing stored: EditorialItem?) -> [String: JSONValue] {
    let form = action == .publish ? form.withoutSchedule() : form
    var members = state == nil ? form.creation : form.patch
    if let stored { members["html"] = html(changing: stored) }
    let wanted = wantedState(of: state ?? .draft)
    // Without a state, a draft with a time of publication would be scheduled. Published and expired items keep theirs.
    let isKept = action == .save && [.published, .expired, .retracted].contains(wanted)
    members["state"] = isKept ? nil : .string(wanted.rawValue)
    // An alert cannot be taken back. A draft that is saved, also while it is typed, does not ask for it.
    if form.requestsAlert, action == .publish || action == .schedule {
      members["push"] = .object(["alert": .bool(true)])
    }
    return members
  }

  /// Returns the HTML of a patch. Without a choice, HTML that is unchanged is left out, so that the rule of the API asks for
  /// one if the text has changed.
  private func html(changing stored: EditorialItem) -> JSONValue? {
    if form.htmlChoice == .remove { return .null }
    let isUnchanged = form.text("html").utf8.elementsEqual(ItemForm(stored).text("html").withLineFeeds.utf8)
    return isUnchanged && form.htmlChoice == nil ? nil : form.patch["html"]
  }
}

extension EditorialAPI {
  /// Stores a file of a form.
  ///
  /// - Returns: The file, or the refusal of it, which leaves the others as they are.
  /// - Throws: `FormError`.
  func upload(_ file: MultipartFile, _ context: APIContext) async throws -> Result<Attachment, FileRefusal> {
    let declared = file.header.mediaType ?? ""
    // A browser derives the type from the name. Only sound and video need it, because their containers are the same.
    let isRecording = declared.hasPrefix("audio/") || declared.hasPrefix("video/")
    let type = isRecording && MediaFormat.types.contains(declared) ? declared : "application/octet-stream"
    let name = file.header.fileName
    do {
      return .success(try await upload(type: type, name: name, context) { file }.attachment)
    } catch {
      guard let problem = ProblemError(ofPart: error, context)?.problem else { throw error }
      return .failure(FileRefusal(name: name, problem: problem))
    }
  }
}
