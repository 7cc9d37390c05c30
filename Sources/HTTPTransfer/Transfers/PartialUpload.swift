import Foundation
import HTTPConditions

/// An upload that continues over several requests, if the server supports it
/// (draft-ietf-httpbis-resumable-upload, interop version 6).
///
/// An empty POST begins the upload, because a client may never see the interim response with its address. PATCH sends the
/// bytes, and HEAD returns the offset after an interruption.
struct PartialUpload {
  private static let version = HTTPHeader("Upload-Draft-Interop-Version", "6")
  /// The statuses for which a server may not support such requests after all.
  private static let unsupported = [400, 404, 405, 409, 501]
  /// The statuses with which a server refuses any request at the moment.
  private static let temporary = [429, 502, 503, 504]
  /// The maximum time for the cancellation of an upload.
  private static let cancellationTimeout = Duration.seconds(10)

  let upload: Upload
  let transfer: Transfer
  /// The whole file.
  let file: HTTPFile

  private var journal: TransferJournal { upload.journal }
  private var requester: HTTPRequester { upload.requester }

  /// The address and the offset at which an upload continues.
  private struct Point {
    var url: URL
    var offset: Int64
  }

  /// Sends the file, or the rest of it.
  ///
  /// - Returns: Whether the file was sent; false if the server does not support it.
  /// - Throws: ``FetchError``, `CancellationError`.
  func run() async throws -> Bool {
    var start = try await resumed()
    if start == nil { start = try await begun() }
    guard let point = start else { return false }
    try journal.update(transfer.number) { ($0.completed, $0.total) = (point.offset, file.length) }
    var rest = file
    (rest.offset, rest.length) = (point.offset, file.length - point.offset)
    let fields = [
      Self.version, HTTPHeader("Upload-Offset", "\(point.offset)"), HTTPHeader("Upload-Complete", "?1"),
      HTTPHeader("Content-Type", "application/partial-upload"),
    ]
    let (head, body) = try await upload.send(
      rest, of: transfer, to: point.url, method: "PATCH", headers: fields + transfer.request.fields)
    switch head.status {
    case 200...299 where head["Upload-Complete"] != "?0":
      try upload.finish(transfer.number, head, body, length: file.length)
      return true
    case 200...299, 409:
      // The server has another offset, or an earlier request is still open there. The next attempt asks for the offset.
      throw FetchError(.unavailable, "the server expects another part of the file", status: head.status)
    case 404, 410:
      try forget()
      throw FetchError(.unavailable, "the server has dropped the upload", status: head.status)
    default:
      throw requester.refusal(head, content: body)
    }
  }

  /// Returns the point at which the server continues an upload of an earlier attempt.
  ///
  /// - Returns: nil if there is none.
  private func resumed() async throws -> Point? {
    guard let url = transfer.partialUpload else { return nil }
    let head = try await Self.send("HEAD", url, [Self.version] + transfer.request.fields, upload).head
    let offset = head["Upload-Offset"].flatMap { Int64($0) }
    switch head.status {
    case 200...299:
      // A file that has changed its length is another one.
      guard let offset, 0...file.length ~= offset, transfer.total == file.length else { break }
      if offset > 0 { try journal.updateWithEvent(transfer.number) { _ in .resumed(offset) } }
      return Point(url: url, offset: offset)
    case 404, 410: break
    default: throw requester.refusal(head)
    }
    try forget()
    return nil
  }

  /// Begins an upload if the server supports it.
  ///
  /// - Returns: nil if it does not.
  private func begun() async throws -> Point? {
    guard transfer.acceptsParts != false else { return nil }
    let url = transfer.request.url
    let options: HTTPTransportResponse
    do {
      options = try await Self.send("OPTIONS", url, [Self.version] + transfer.request.fields, upload).head
    } catch let error as FetchError where error.code == .rejected {
      // The transport sends whole files only.
      return try declined()
    }
    if Self.temporary.contains(options.status) { throw requester.refusal(options) }
    guard 200...299 ~= options.status, options[Self.version.name] == Self.version.value else { return try declined() }
    let digest = try PartialFile.digest(file.url)
    let fields = [
      Self.version, HTTPHeader("Upload-Complete", "?0"), HTTPHeader("Upload-Length", "\(file.length)"),
      HTTPHeader("Content-Type", transfer.request.mediaType ?? "application/octet-stream"),
      // The server refuses a file that has changed between two requests.
      HTTPHeader("Repr-Digest", DigestField.value(sha256: digest)),
    ]
    let response = try await Self.send("POST", url, fields + transfer.request.fields, upload)
    let head = response.head
    if Self.unsupported.contains(head.status) { return try declined() }
    guard 200...299 ~= head.status else { throw requester.refusal(head, content: response.body) }
    // The header fields may have credentials, which are for one origin.
    guard let location = head["Location"].flatMap({ URL(string: $0, relativeTo: response.url ?? url)?.absoluteURL }),
      HTTPRequester.isSameOrigin(location, url)
    else { throw FetchError(.redirect, "the server has begun the upload at another address", status: head.status) }
    try journal.update(transfer.number) {
      ($0.partialUpload, $0.acceptsParts, $0.completed, $0.total) = (location, true, 0, file.length)
    }
    return Point(url: location, offset: 0)
  }

  /// Records that the file must arrive in one request.
  private func declined() throws -> Point? {
    try journal.update(transfer.number) { $0.acceptsParts = false }
    return nil
  }

  private func forget() throws { try journal.update(transfer.number) { $0.partialUpload = nil } }

  /// Cancels the upload at the server, which otherwise drops it after some time. A failure is ignored.
  static func cancel(_ transfer: Transfer, _ url: URL, _ upload: Upload) async {
    _ = try? await send("DELETE", url, [version] + transfer.request.fields, upload, within: cancellationTimeout)
  }

  private static func send(
    _ method: String, _ url: URL, _ headers: [HTTPHeader], _ upload: Upload, within limit: Duration = Upload.idleLimit
  ) async throws -> HTTPRequester.Response {
    try await IdleTimeout(limit: limit, clock: upload.clock).run {
      var meter = HTTPRequester.Meter()
      return try await upload.requester.send(json: Data(), to: url, method: method, headers: headers, meter: &meter)
    }
  }
}
