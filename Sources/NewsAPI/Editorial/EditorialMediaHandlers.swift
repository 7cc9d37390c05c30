import Foundation
import HTTPConditions
import HTTPEdge
import HTTPTypes
import Hummingbird
import MediaFiles
import News
import NewsStore

/// The handlers of `/v1/editorial/media`: uploads and removal of files.
struct EditorialMediaHandlers: Sendable {
  let editorial: EditorialAPI

  private var store: NewsStore { editorial.store }

  @Sendable func upload(_ request: Request, context: APIContext) async throws -> Response {
    context.record.setUpload()
    try request.parameters().check()
    guard editorial.keepsFiles else { throw ProblemError.mediaNotKept }
    let fields = try UploadFields(request.headers)
    if let fields, fields.isComplete == false {
      return try await UploadPartHandlers(editorial: editorial).begin(request, fields, context)
    }
    guard fields?.offset ?? 0 == 0 else {
      throw ProblemError.invalidParameters([FieldError(field: "Upload-Offset", rule: "must be 0")])
    }
    var head = try MediaUploadHead(request.headers, largest: editorial.maximumMediaBytes)
    head.length = fields?.length
    let (media, created) = try await editorial.upload(head, context) { RequestParts(request, context) }
    return Self.answer(editorial.attachment(media), media, created: created).response
  }

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["used", "limit", "cursor"])
    var query = MediaQuery(
      isUsed: parameters.bool("used"), limit: parameters.integer("limit", in: 1...200, default: 50),
      access: context.access)
    let cursor = PageCursor(filters: ["media", query.isUsed.map { "\($0)" }])
    query.after = parameters.cursor(cursor)?.id
    try parameters.check()
    let page = try await store.editorialMedia(query)
    var headers = HTTPFields()
    headers[.link] = page.next.map {
      request.link(toPage: cursor.text(Keyset(date: Date(timeIntervalSince1970: 0), id: $0)))
    }
    let list = EditorialMediaList(
      items: page.files.map { file in
        EditorialMedia(
          id: file.media.id, attachment: editorial.attachment(file.media), name: file.media.name,
          created: file.media.created, uses: file.uses, isPublic: file.isPublic)
      })
    return try .json(headers: headers) { try $0.encode(list) }
  }

  @Sendable func media(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try await editorial.file(try context.resourceID("media"), request, context)
  }

  @Sendable func remove(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let digest = try await store.removeMedia(try context.resourceID("media"), access: context.access)
    if let library = editorial.library, let digest {
      await library.removeContents([digest], logger: context.logger)
    }
    return Response(status: .noContent)
  }

  static func answer(_ attachment: Attachment, _ media: Media, created: Bool) -> EditorialAnswer {
    .json(status: created ? .created : .ok, headers: [.location: Attachment.path(of: media.id)]) {
      $0.write(attachment)
    }
  }
}

/// The description of a file by its sender.
struct MediaUploadHead {
  /// The media type that makes the server detect the type of the file.
  private static let anyType = "application/octet-stream"
  private static let acceptedTypes = MediaFormat.types + [anyType]

  let type: String
  let name: String?
  /// The declared number of bytes of a file in one request; nil if there is none.
  var length: Int?
  /// The declared SHA-256 digests of the body, each with the name of its field.
  private let digests: [(field: String, value: Data)]

  /// Creates the description of a file in a form.
  ///
  /// - Throws: `ProblemError`, 415.
  init(type: String, name: String?) throws {
    let type = JSONBody.mediaType(type)
    guard Self.acceptedTypes.contains(type) else { throw ProblemError.unsupportedMediaType(Self.acceptedTypes) }
    (self.type, self.name, digests) = (type, name, [])
  }

  /// Creates the description of a file that has arrived in several requests.
  init(_ upload: MediaUploadState) {
    (type, name) = (upload.type, upload.name)
    digests = upload.digest.map { [(HTTPField.Name.reprDigest.rawName, $0)] } ?? []
  }

  /// The declared digest; nil if there is none.
  var digest: Data? { digests.first?.value }

  /// Parses the header fields.
  ///
  /// - Throws: `ProblemError`, 415, 413 or 400, before the body is requested.
  init(_ headers: HTTPFields, largest: Int) throws {
    type = headers[.contentType].map(JSONBody.mediaType) ?? ""
    guard Self.acceptedTypes.contains(type) else { throw ProblemError.unsupportedMediaType(Self.acceptedTypes) }
    guard headers[values: .contentEncoding].allSatisfy({ $0.lowercased() == "identity" }) else {
      throw ProblemError.unsupportedContentCoding
    }
    if let length = headers[.contentLength].flatMap({ Int($0) }), length > largest {
      throw ProblemError.bodyTooLarge(largest)
    }
    var errors: [FieldError] = []
    do {
      name = try headers[.contentDisposition].flatMap(ContentDisposition.name)
    } catch {
      name = nil
      errors.append(
        FieldError(
          field: "Content-Disposition",
          rule: "must follow RFC 6266; the filename must not exceed 255 bytes or contain control characters"))
    }
    var digests: [(String, Data)] = []
    // Without a content coding, both fields describe the same bytes.
    for name in [HTTPField.Name.reprDigest, .contentDigest] {
      switch DigestField(fields: headers, name: name) {
      case .sha256(let digest): digests.append((name.rawName, digest))
      case .malformed: errors.append(FieldError(field: name.rawName, rule: "must be sha-256=:BASE64: of 32 bytes"))
      case .absent: break
      }
    }
    guard errors.isEmpty else { throw ProblemError.invalidParameters(errors) }
    self.digests = digests
  }

  /// Detects the format of a file and compares it with the declared type.
  ///
  /// - Parameter beginning: The first `MediaFormat.headerByteCount` bytes of the file or more, or all of a shorter one.
  /// - Throws: `ProblemError`, 415, if the format is unknown or of another type.
  func format(of beginning: [UInt8]) throws -> MediaFormat {
    guard let format = MediaFormat(beginning: beginning), type == Self.anyType || format.types.contains(type) else {
      throw ProblemError.otherMediaType(type, Self.acceptedTypes)
    }
    return format
  }

  /// Returns the declared type, or the usual type of the format if none is declared.
  func type(of format: MediaFormat) -> String { type == Self.anyType ? format.types[0] : type }

  /// Compares a file with its declared length and digests.
  ///
  /// - Throws: `ProblemError`, 400 for another length, and 422, which names the fields with another digest.
  func check(_ stored: StoredMedia) throws {
    guard length == nil || length == stored.bytes else { throw ProblemError.uploadLength(stored.bytes) }
    let wrong = digests.filter { $0.value != stored.digest.bytes }
    guard wrong.isEmpty else {
      throw ProblemError.invalidFields(
        wrong.map { FieldError(field: $0.field, rule: "must be the SHA-256 of the received body") })
    }
  }
}
