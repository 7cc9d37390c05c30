import Foundation
import HTTPConditions

/// One attempt at an upload. If the server receives large files in several requests, the attempt continues the last one.
struct Upload {
  /// The maximum time without progress, including the server's work at the end.
  static let idleLimit = Duration.seconds(120)
  /// The maximum number of bytes stored of a response.
  static let maximumResponseBytes = 64 << 10
  /// The number of bytes from which a file is sent in several requests if one breaks. Smaller files are sent again.
  static let minimumResumableBytes: Int64 = 1 << 20

  let journal: TransferJournal
  let requester: HTTPRequester
  let clock: any FetchClock

  /// Sends the file of a transfer.
  ///
  /// - Throws: ``FetchError``, `CancellationError`.
  func run(_ transfer: Transfer) async throws {
    guard let file = transfer.request.file,
      let values = try? file.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey]), let length = values.fileSize
    else { throw FetchError(.rejected, "the file to upload is missing or cannot be read") }
    guard values.isRegularFile == true else { throw FetchError(.rejected, "the path to upload is not a regular file") }
    let content = HTTPFile(url: file, length: Int64(length)) { _ in }
    let parts = PartialUpload(upload: self, transfer: transfer, file: content)
    if transfer.request.method == "POST", content.length >= Self.minimumResumableBytes, try await parts.run() { return }
    try journal.update(transfer.number) { ($0.completed, $0.total) = (0, content.length) }
    let type = HTTPHeader("Content-Type", transfer.request.mediaType ?? "application/octet-stream")
    let (head, body) = try await send(
      content, of: transfer, to: transfer.request.url, method: transfer.request.method,
      headers: [type] + transfer.request.fields)
    guard 200...299 ~= head.status else { throw requester.refusal(head, content: body) }
    try finish(transfer.number, head, body, length: content.length)
  }

  /// Sends the content of a request, and records its progress.
  func send(
    _ file: HTTPFile, of transfer: Transfer, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> (HTTPTransportResponse, Data) {
    let idleTimeout = IdleTimeout(limit: Self.idleLimit, clock: clock)
    let progress = ProgressRecorder(journal: journal, number: transfer.number, clock: clock)
    var file = file
    file.progress = { [offset = file.offset] sent in
      idleTimeout.reset()
      progress.record(offset + sent)
    }
    return try await idleTimeout.run { [file] in
      var meter = HTTPRequester.Meter()
      return try await requester.upload(
        file, to: url, method: method, headers: headers, maximumBytes: Self.maximumResponseBytes, meter: &meter)
    }
  }

  /// Stores the end of a transfer and the response of the server.
  func finish(_ number: Int64, _ head: HTTPTransportResponse, _ body: Data, length: Int64) throws {
    try journal.updateWithEvent(number) { transfer in
      guard transfer.state == .running else { return nil }
      (transfer.state, transfer.completed, transfer.failure) = (.finished, length, nil)
      transfer.response = .init(status: head.status, location: head["Location"], body: body)
      return .completed
    }
  }
}
