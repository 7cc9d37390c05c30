import Foundation
import HTTPConditions
import HTTPEdge
import HTTPTypes
import Hummingbird
import MediaFiles
import News
import NewsStore

/// The handlers of `/v1/editorial/media/uploads/{id}`: uploads that continue over several requests
/// (draft-ietf-httpbis-resumable-upload, interop version 6).
struct UploadPartHandlers: Sendable {
  let editorial: EditorialAPI

  private var store: NewsStore { editorial.store }
  private var limits: MediaUploadLimits { editorial.uploadLimits }

  /// Describes the support for such uploads.
  @Sendable func options(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    _ = try editorial.partStorage
    return Response(status: .noContent, headers: [.uploadVersion: UploadFields.version, .uploadLimit: limit])
  }

  /// Begins an upload, whose bytes follow with PATCH.
  func begin(_ request: Request, _ fields: UploadFields, _ context: APIContext) async throws -> Response {
    _ = try editorial.partStorage
    _ = try await editorial.acceptingLibrary()
    let head = try MediaUploadHead(request.headers, largest: editorial.maximumMediaBytes)
    guard fields.offset ?? 0 == 0, fields.length != 0 else {
      throw ProblemError.invalidParameters([
        FieldError(field: "Upload-Offset", rule: "must be 0, and Upload-Length above 0")
      ])
    }
    if let length = fields.length, length > editorial.maximumMediaBytes {
      throw ProblemError.bodyTooLarge(editorial.maximumMediaBytes)
    }
    guard try await !Self.hasBody(request, context) else {
      throw ProblemError.invalidParameters([
        FieldError(field: "Content-Length", rule: "must be 0: the file follows with PATCH")
      ])
    }
    let upload = MediaUploadState(
      id: UUID(), type: head.type, name: head.name, digest: head.digest, length: fields.length)
    let begun = try await store.beginUpload(
      upload, by: try key(context), limits, once: context.once { [limit] in Self.answer($0, limit) })
    context.record.setSubject("upload", begun.id.uuidString.lowercased())
    return Self.answer(begun, limit).response
  }

  /// Whether a request has bytes, also in chunks.
  private static func hasBody(_ request: Request, _ context: APIContext) async throws -> Bool {
    if let length = request.headers[.contentLength], Int(length) != 0 { return true }
    for try await part in RequestParts(request, context) where part.readableBytes > 0 { return true }
    return false
  }

  private static func answer(_ upload: MediaUploadState, _ limit: String) -> EditorialAnswer {
    var headers = UploadFields.response(offset: 0, isComplete: false)
    headers[.location] = path(of: upload.id)
    headers[.uploadLimit] = limit
    return .json(status: .created, headers: headers) { json in
      json.object { $0.field("upload", path(of: upload.id)) }
    }
  }

  private static func path(of id: UUID) -> String {
    APIPath.unfinishedUpload.replacing("{id}", with: id.uuidString.lowercased())
  }

  /// Returns the offset at which an upload continues.
  @Sendable func offset(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let parts = try editorial.partStorage
    try Self.requireNoContentFields(request)
    let upload = try await store.upload(try context.resourceID("upload"), of: try key(context))
    // The storage may have lost bytes that the database knows, for example after a restored backup.
    let offset = upload.media == nil ? min(upload.received, try await parts.length(upload.id)) : upload.received
    var headers = UploadFields.response(offset: offset, isComplete: upload.media != nil)
    headers[.uploadLimit] = limit
    return Response(status: .noContent, headers: headers)
  }

  /// Appends bytes to an upload. The last of them make it a file like one that has arrived in one request.
  @Sendable func append(_ request: Request, context: APIContext) async throws -> Response {
    context.record.setUpload()
    try request.parameters().check()
    let parts = try editorial.partStorage
    let fields = try UploadFields.required(request.headers)
    guard let offset = fields.offset else {
      throw ProblemError.invalidParameters([FieldError(field: "Upload-Offset", rule: "is required")])
    }
    guard request.headers[.contentType].map(JSONBody.mediaType) == UploadFields.partType else {
      throw ProblemError.unsupportedMediaType([UploadFields.partType])
    }
    guard request.headers[values: .contentEncoding].allSatisfy({ $0.lowercased() == "identity" }) else {
      throw ProblemError.unsupportedContentCoding
    }
    let (id, key) = (try context.resourceID("upload"), try key(context))
    // An unknown upload leaves no file.
    _ = try await store.upload(id, of: key)
    _ = try await editorial.acceptingLibrary()
    guard let part = try await parts.open(id) else { throw ProblemError.uploadInProgress }
    let response: Response
    do {
      response = try await append(to: part, id, of: key, at: offset, fields, request, context)
    } catch {
      await part.close()
      throw error
    }
    await part.close()
    return response
  }

  private func append(
    to part: any MediaPart, _ id: UUID, of key: String, at offset: Int, _ fields: UploadFields, _ request: Request,
    _ context: APIContext
  ) async throws -> Response {
    let upload: MediaUploadState
    do {
      // An earlier request may have stored more until the part could be opened.
      upload = try await store.upload(id, of: key)
    } catch StoreError.notFound {
      // The upload was cancelled before the part was opened, and thus created.
      try? await part.remove()
      try? await store.forgetCancelledUpload(id)
      throw StoreError.notFound
    }
    if upload.media != nil {
      try? await part.remove()
      return try await completed(upload, offset, request, context)
    }
    let received = try await part.truncate(to: upload.received)
    guard offset == received else { throw ProblemError.uploadOffset(received, isComplete: false) }
    let declared = try declaring(fields, for: upload, received)
    let receiver = UploadReceiver(editorial: editorial, upload: declared, part: part)
    guard let (media, created) = try await receiver.receive(request, fields, context) else {
      return Response(status: .noContent, headers: UploadFields.response(offset: part.length, isComplete: false))
    }
    return answer(media, created: created)
  }

  /// Returns an upload with the length that a request declares. The last request may correct a wrong one of its own.
  ///
  /// - Throws: `ProblemError`, 413, and 400 for another length than the one that is known.
  private func declaring(
    _ fields: UploadFields, for upload: MediaUploadState, _ received: Int
  ) throws -> MediaUploadState {
    guard let length = fields.length else { return upload }
    guard length <= editorial.maximumMediaBytes else { throw ProblemError.bodyTooLarge(editorial.maximumMediaBytes) }
    guard length == upload.length ?? length, length >= max(received, 1) else {
      throw ProblemError.invalidParameters([
        FieldError(field: "Upload-Length", rule: "must be the number of all bytes, the same in all requests")
      ])
    }
    var upload = upload
    if fields.isComplete == false { upload.length = length }
    return upload
  }

  /// Repeats the response to the last request of an upload, whose client has missed it.
  private func completed(
    _ upload: MediaUploadState, _ offset: Int, _ request: Request, _ context: APIContext
  ) async throws -> Response {
    guard let id = upload.media, offset == upload.received, try await !Self.hasBody(request, context) else {
      throw ProblemError.uploadOffset(upload.received, isComplete: true)
    }
    return answer(try await store.editorialMedia(id), created: false)
  }

  private func answer(_ media: Media, created: Bool) -> Response {
    var response = EditorialMediaHandlers.answer(editorial.attachment(media), media, created: created).response
    for field in UploadFields.response(offset: media.bytes, isComplete: true) { response.headers.append(field) }
    return response
  }

  /// Cancels an upload, and removes its bytes. The file of a complete one remains.
  @Sendable func cancel(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let parts = try editorial.partStorage
    try Self.requireNoContentFields(request)
    let id = try context.resourceID("upload")
    try await store.removeUpload(id, of: try key(context))
    // In a clone, the part may be that of the original.
    if (try? await editorial.acceptingLibrary()) != nil {
      // A request that has the part open removes it itself. Until then the part needs its row, even if it is empty.
      try await parts.remove([id])
      if try await !parts.ids().contains(id) { try await store.forgetCancelledUpload(id) }
    }
    return Response(status: .noContent, headers: [.uploadVersion: UploadFields.version])
  }

  private static func requireNoContentFields(_ request: Request) throws {
    let fields = try UploadFields.required(request.headers)
    guard fields.isComplete == nil, fields.offset == nil, fields.length == nil else {
      throw ProblemError.invalidParameters([
        FieldError(field: "Upload-Offset", rule: "must be omitted, as Upload-Complete")
      ])
    }
  }

  /// The value of `Upload-Limit`.
  private var limit: String { "max-size=\(editorial.maximumMediaBytes), expires=\(Int(limits.lifetime))" }

  private func key(_ context: APIContext) throws -> String {
    guard let key = context.record.key else { throw ProblemError.notFound }
    return key.id
  }
}

extension EditorialAPI {
  /// The storage of the parts of files.
  ///
  /// - Throws: `ProblemError`, 501.
  var partStorage: any MediaPartStorage {
    get throws {
      guard let parts = library?.storage.parts else { throw ProblemError.mediaNotKept }
      return parts
    }
  }
}
