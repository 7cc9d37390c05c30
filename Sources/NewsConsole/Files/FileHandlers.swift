import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of files.
struct FileHandlers: Sendable {
  let services: ConsoleServices

  private var pages: ConsolePages { services.pages }

  /// The number of files on a page.
  private static let limit = 48

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var parameters = QueryParameters(formQuery: request.uri.query, known: ["used", "cursor", Notice.parameter])
    let isUsed = parameters.bool("used")
    let notice = parameters.value(Notice.parameter, rule: "must be a notice") { Notice(rawValue: $0) }
    let cursor = PageCursor(filters: ["console files", isUsed.map { "\($0)" }])
    let after = parameters.cursor(cursor)?.id
    try parameters.check()
    return try await list(isUsed: isUsed, after: after, cursor, notice, visit)
  }

  /// Stores the files of a form.
  @Sendable func upload(_ parts: MultipartReader, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var problem: Problem?
    var count = 0
    while let part = try await parts.nextPart() {
      guard case .file(let file) = part else { continue }
      do {
        _ = try await services.editorial.upload(file, context)
        count += 1
      } catch let error as ProblemError {
        problem = error.problem
      }
    }
    guard problem != nil || count == 0 else { return pages.redirect(to: ConsolePath.files, notice: .uploaded) }
    let cursor = PageCursor(filters: ["console files", nil])
    return try await list(isUsed: nil, after: nil, cursor, nil, visit, problem, isEmptyForm: problem == nil)
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

  private func list(
    isUsed: Bool?, after: UUID?, _ cursor: PageCursor, _ notice: Notice?, _ visit: ConsoleVisit,
    _ problem: Problem? = nil, isEmptyForm: Bool = false
  ) async throws -> Response {
    let page = try await services.store.editorialMedia(
      MediaQuery(isUsed: isUsed, limit: Self.limit, after: after, access: visit.access))
    var values = PageValues()
    values.set("notice", notice.map { pages.texts.text($0.textKey) })
    values.set(
      "problem", problem.map { pages.message(of: $0) } ?? (isEmptyForm ? pages.texts.text("no-file-chosen") : nil))
    values.set("action", pages.link(ConsolePath.files))
    values.set("mayUpload", visit.mayUpload && services.editorial.keepsFiles)
    values.set("keepsNoFiles", !services.editorial.keepsFiles)
    values.set("filters", [nil, true, false].map { filter($0, isCurrent: $0 == isUsed) })
    values.set("files", page.files.map { pages.values(of: $0, withUsesFor: visit) })
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
    let status = problem.map { HTTPResponse.Status(code: $0.status) } ?? (isEmptyForm ? .unprocessableContent : .ok)
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
  /// Returns the values of a file.
  ///
  /// - Parameter visit: The reader of links to the items that use the file; nil for no links.
  func values(of file: UsedMedia, withUsesFor visit: ConsoleVisit? = nil) -> PageValues {
    let media = file.media
    var values = PageValues()
    let address = link(ConsolePath.path(ConsolePath.file, id: media.id))
    let name = media.name ?? media.id.uuidString.lowercased()
    values.set("fileID", media.id.uuidString.lowercased())
    values.set("fileLink", address)
    values.set("fileName", Excerpt.of(name, limit: 80))
    values.set("fileType", media.type)
    values.set("fileSize", Self.size(media.bytes))
    values.set("fileThumbnail", media.type.hasPrefix("image/") ? address : nil)
    values.set("fileWidth", media.width)
    values.set("fileHeight", media.height)
    values.set("isPublic", file.isPublic)
    let created = date(media.created)
    values.set("fileTime", created.text)
    values.set("fileMachine", created.machine)
    if visit?.mayWrite ?? false {
      values.set(
        "uses",
        file.uses.map { id -> PageValues in
          var use = PageValues()
          use.set("useLink", link(ConsolePath.path(ConsolePath.item, id: id)))
          use.set("useID", String(id.uuidString.lowercased().suffix(6)))
          return use
        })
    }
    values.set("isUsed", !file.uses.isEmpty)
    return values
  }

  /// Returns a number of bytes in a unit that suits it.
  private static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<1000: "\(bytes) B"
    case ..<1_000_000: "\((bytes + 500) / 1000) kB"
    default: "\((bytes + 50_000) / 1_000_000).\((bytes + 50_000) / 100_000 % 10) MB"
    }
  }
}
