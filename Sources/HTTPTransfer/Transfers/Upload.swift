import Foundation

/// One attempt at an upload: the whole file, as one request.
struct Upload {
  /// The maximum time without progress, including the server's work at the end.
  static let idleLimit = Duration.seconds(120)
  /// The maximum number of bytes stored of a response.
  static let maximumResponseBytes = 64 << 10

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
    try journal.update(transfer.number) { ($0.completed, $0.total) = (0, Int64(length)) }
    let idleTimeout = IdleTimeout(limit: Self.idleLimit, clock: clock)
    let progress = ProgressRecorder(journal: journal, number: transfer.number, clock: clock)
    let content = HTTPFile(url: file, length: Int64(length)) { sent in
      idleTimeout.reset()
      progress.record(sent)
    }
    let (head, body) = try await idleTimeout.run {
      var meter = HTTPRequester.Meter()
      return try await requester.upload(
        content, to: transfer.request.url, method: transfer.request.method, headers: headers(transfer.request),
        maximumBytes: Self.maximumResponseBytes, meter: &meter)
    }
    guard 200...299 ~= head.status else { throw requester.refusal(head, content: body) }
    try journal.updateWithEvent(transfer.number) { transfer in
      (transfer.state, transfer.completed, transfer.failure) = (.finished, Int64(length), nil)
      transfer.response = .init(status: head.status, location: head["Location"], body: body)
      return .completed
    }
  }

  private func headers(_ request: TransferRequest) -> [HTTPHeader] {
    [HTTPHeader("Content-Type", request.mediaType ?? "application/octet-stream")]
      + request.headers.map { HTTPHeader($0, $1) }
  }
}
