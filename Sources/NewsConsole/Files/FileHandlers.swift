import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of files.
struct FileHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The number of files on a page.
  private static let limit = 20
  /// The number of items that a page names for each file.
  private static let maximumUses = 3

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var parameters = QueryParameters(formQuery: request.uri.query, known: ["used", "cursor", Notice.parameter])
    let isUsed = parameters.bool("used")
    let notice = parameters.notice()
    let cursor = PageCursor(filters: ["console files", isUsed.map { "\($0)" }])
    let after = parameters.cursor(cursor)?.id
    try parameters.check()
    var values = PageValues()
    values.set("notice", notice.map { pages.texts.text($0.textKey) })
    return try await list(isUsed: isUsed, after: after, cursor, visit, values)
  }

  /// Stores the files of a form. Those that are refused do not prevent the others.
  @Sendable func upload(_ parts: MultipartReader, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var refused: [FileRefusal] = []
    var count = 0
    while let part = try await parts.nextPart() {
      guard case .file(let file) = part else { continue }
      switch try await services.editorial.upload(file, context) {
      case .success: count += 1
      case .failure(let refusal): refused.append(refusal)
      }
    }
    guard !refused.isEmpty || count == 0 else { return pages.redirect(to: ConsolePath.files, notice: .uploaded) }
    var values = PageValues()
    values.set("notice", count > 0 ? pages.texts.text("files-stored", ["count": "\(count)"]) : nil)
    values.set("problem", pages.texts.text(refused.isEmpty ? "no-file-chosen" : "files-refused"))
    values.set("problemFields", refused.map { pages.problemField($0) })
    values.set("hasProblemFields", !refused.isEmpty)
    let status = refused.last.map { HTTPResponse.Status(code: $0.problem.status) } ?? .unprocessableContent
    return try await list(
      isUsed: nil, after: nil, PageCursor(filters: ["console files", nil]), visit, values, status: status)
  }

  /// Returns the content of a file, whether or not readers can get it.
  @Sendable func file(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var response = try await services.editorial.file(try context.resourceID("media"), request, context)
    for field in ConsoleHeaders.common where field.name != .cacheControl {
      response.headers[field.name] = field.value
    }
    // The browser keeps the file but asks each time, so that a session that has ended gets nothing.
    response.headers[.cacheControl] = "private, no-cache"
    return response
  }

  /// Returns the page of the list.
  ///
  /// - Parameter values: The values above the list.
  private func list(
    isUsed: Bool?, after: UUID?, _ cursor: PageCursor, _ visit: ConsoleVisit, _ values: PageValues,
    status: HTTPResponse.Status = .ok
  ) async throws -> Response {
    let page = try await services.store.editorialMedia(
      MediaQuery(isUsed: isUsed, limit: Self.limit, after: after, access: visit.access))
    let uses = visit.mayWrite ? page.files.flatMap { $0.uses.prefix(Self.maximumUses) } : []
    let titles = try await services.store.itemTitles(of: Array(Set(uses)), for: visit.access)
    var values = values
    values.set("action", pages.link(ConsolePath.files))
    values.set("mayUpload", visit.mayUpload && services.editorial.keepsFiles)
    let limit = NumberText(pages.texts).bytes(Double(services.editorial.maximumMediaBytes))
    values.set("uploadLimit", pages.texts.text("upload-limit", ["size": limit]))
    values.set("keepsNoFiles", !services.editorial.keepsFiles)
    values.set("filters", [nil, true, false].map { filter($0, isCurrent: $0 == isUsed) })
    values.set("files", page.files.map { pages.values(of: $0, titles: titles) })
    values.set("isEmpty", page.files.isEmpty)
    let path = ConsolePath.files + (isUsed.map { "?used=\($0)" } ?? "")
    values.set("first", after == nil ? nil : pages.link(path))
    values.set(
      "older",
      page.next.map { id -> String in
        let text = cursor.text(Keyset(date: Date(timeIntervalSince1970: 0), id: id))
        return pages.link("\(path)\(isUsed == nil ? "?" : "&")cursor=\(text)")
      })
    values.set("hasPager", after != nil || page.next != nil)
    return pages.page("files", title: pages.texts.text("section-files"), status: status, for: visit, in: .files, values)
  }

  private func filter(_ isUsed: Bool?, isCurrent: Bool) -> PageValues {
    var values = PageValues()
    values.set("tabLink", pages.link(ConsolePath.files + (isUsed.map { "?used=\($0)" } ?? "")))
    values.set("tabTitle", pages.texts.text(isUsed.map { $0 ? "files-used" : "files-unused" } ?? "files-all"))
    values.set("isCurrentTab", isCurrent)
    return values
  }
}

extension ConsolePages {
  /// The length of a file's name on pages, in Unicode scalars.
  static let fileNameLength = 80

  /// Returns the values of a file.
  ///
  /// - Parameter titles: The titles of the items to which there are links, among those that use the file, by id.
  func values(of file: UsedMedia, titles: [UUID: ItemTitle] = [:]) -> PageValues {
    let media = file.media
    var values = PageValues()
    let address = link(ConsolePath.path(ConsolePath.file, id: media.id))
    let created = date(media.created)
    values.set("fileID", media.id.uuidString.lowercased())
    values.set("fileLink", address)
    let name = Excerpt.of(media.name ?? "", limit: Self.fileNameLength)
    values.set("fileName", name.isEmpty ? texts.text("unnamed-file", ["date": created.text]) : name)
    values.set("fileType", media.type)
    values.set("fileSize", NumberText(texts).bytes(Double(media.bytes)))
    values.set("fileThumbnail", media.type.hasPrefix("image/") ? address : nil)
    values.set("fileWidth", media.width)
    values.set("fileHeight", media.height)
    values.set("isPublic", file.isPublic)
    // The name of a file without one has the date.
    values.set("fileTime", name.isEmpty ? nil : created.text)
    values.set("fileMachine", created.machine)
    let uses = file.uses.compactMap { id in titles[id].map { use(of: id, $0) } }
    values.set("uses", uses)
    values.set("hasUses", !uses.isEmpty)
    values.set("hasOtherUses", !uses.isEmpty && uses.count < file.uses.count)
    values.set("isUsed", !file.uses.isEmpty)
    return values
  }

  /// Returns the values of a link to an item that uses a file.
  private func use(of id: UUID, _ item: ItemTitle) -> PageValues {
    var values = PageValues()
    values.set("useLink", link(ConsolePath.path(ConsolePath.item, id: id)))
    values.set("useTitle", Excerpt.of(headline(title: item.title, text: item.text), limit: 60))
    values.set("useLanguage", item.language)
    return values
  }
}
