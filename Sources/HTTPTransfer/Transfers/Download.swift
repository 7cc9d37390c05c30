import Foundation

/// One attempt at a download. It resumes the last attempt if the server still has the same content, and never mixes two
/// versions.
struct Download {
  /// The maximum silence of the server.
  static let patience = Duration.seconds(60)

  let journal: TransferJournal
  let exchange: Exchange
  let clock: any FetchClock

  /// The response does not belong to the partial content. A new request may succeed.
  private struct Restart: Error {}

  /// Downloads the missing part of a transfer.
  ///
  /// - Throws: ``FetchError``, `CancellationError`. Received bytes are kept, unless they are the wrong content.
  func run(_ transfer: Transfer) async throws {
    let place = journal.wholeFile(transfer)
    let partial = journal.partialFile(transfer)
    // A process that was killed between the last two steps has moved the file.
    let isMoved =
      transfer.total != nil && transfer.completed == transfer.total && !partial.exists && place.exists
    if isMoved, try isRight(transfer, place) { return try finish(transfer.number) }
    let file = try PartialFile(partial)
    defer { file.end() }
    // If the file is complete, only the last steps are missing.
    if !(transfer.total == file.length && file.length > 0) {
      do {
        try await fetch(transfer, file)
      } catch is Restart {
        try forget(transfer.number, file)
        guard let fresh = try journal.transfer(transfer.number) else { return }
        do { try await fetch(fresh, file) } catch is Restart {
          throw FetchError(.unexpectedResponse, "the server answers a request for all with a part")
        }
      }
    }
    guard let current = try journal.transfer(transfer.number), current.state == .running else { return }
    guard try isRight(current, partial) else {
      try forget(transfer.number, file)
      throw FetchError(.unexpectedResponse, "the content is not what was announced")
    }
    try file.move(from: partial, to: place)
    try finish(transfer.number)
  }

  private func finish(_ number: Int64) throws {
    try journal.tell(number) { transfer in
      // A transfer that was cancelled at the last moment stays cancelled.
      guard transfer.state == .running else { return nil }
      transfer.state = .finished
      transfer.completed = transfer.total ?? transfer.completed
      transfer.failure = nil
      return .completed
    }
  }

  /// Discards the received bytes, to begin again.
  private func forget(_ number: Int64, _ file: PartialFile) throws {
    try journal.update(number) { transfer in
      (transfer.completed, transfer.total, transfer.entityTag, transfer.announcedSHA256) = (0, nil, nil, nil)
    }
    try file.empty()
  }

  /// Whether the content matches the requested digest and the announced one.
  private func isRight(_ transfer: Transfer, _ file: URL) throws -> Bool {
    let expected = Set([transfer.request.sha256, transfer.announcedSHA256].compactMap { $0?.lowercased() })
    if expected.isEmpty { return true }
    return expected == [try PartialFile.sha256(file)]
  }

  /// Requests the missing bytes, and writes them.
  private func fetch(_ transfer: Transfer, _ file: PartialFile) async throws {
    if transfer.entityTag == nil, file.length > 0 { try file.empty() }
    let offset = file.length
    var fields = [HTTPHeader("Accept", "*/*"), HTTPHeader("Accept-Encoding", "identity")]
    if offset > 0, let tag = transfer.entityTag {
      // The server sends everything if the content has changed (RFC 9110, section 13.1.5).
      fields += [HTTPHeader("Range", "bytes=\(offset)-"), HTTPHeader("If-Range", tag)]
    }
    let silence = SilenceGuard(limit: Self.patience, clock: clock)
    let own = transfer.request.headers.map { HTTPHeader($0, $1) }
    try await silence.watch { [fields] in
      var meter = Exchange.Meter()
      let head = try await exchange.open(transfer.request.url, fields: fields, originFields: own, meter: &meter)
      silence.heard()
      guard [200, 206, 416].contains(head.status) else { throw await exchange.refusal(reading: head) }
      guard let total = try begin(head, transfer, file) else { return }
      try await write(head, transfer, file, total: total, silence)
    }
  }

  /// Evaluates the head of a response.
  ///
  /// - Returns: The total number of bytes, negative if the server does not say; nil if all bytes are here.
  /// - Throws: `Restart` if the received bytes are of no use; ``FetchError`` for other content.
  private func begin(_ head: HTTPAnswer, _ transfer: Transfer, _ file: PartialFile) throws -> Int64? {
    let offset = file.length
    switch head.status {
    case 206:
      guard let range = ContentRangeField(head["Content-Range"]), offset > 0, range.first == offset,
        range.total == nil || range.total == transfer.total, head["ETag"] ?? transfer.entityTag == transfer.entityTag
      else { throw Restart() }
      try check(head, transfer)
      try journal.tell(transfer.number) {
        $0.completed = offset
        $0.announcedSHA256 = head.reprSHA256 ?? $0.announcedSHA256
        return .resumed(offset)
      }
      return transfer.total ?? -1
    case 200:
      try check(head, transfer)
      try file.empty()
      let length = head["Content-Length"].flatMap(Int64.init)
      if let most = transfer.request.mostBytes, let length, length > most { throw Self.tooLarge(most) }
      try journal.update(transfer.number) {
        ($0.completed, $0.total, $0.entityTag, $0.announcedSHA256) = (0, length, head.strongTag, head.reprSHA256)
      }
      return length ?? -1
    case 416:
      // All bytes are here already, as the reported length shows.
      if offset > 0, ContentRangeField.unsatisfied(head["Content-Range"]) == offset, transfer.total == offset {
        return nil
      }
      throw Restart()
    default:
      throw exchange.refusal(head)
    }
  }

  private static func tooLarge(_ most: Int64) -> FetchError {
    FetchError(.rejected, "the content has more than \(most) bytes")
  }

  /// Rejects other content, such as the page of a captive portal.
  private func check(_ head: HTTPAnswer, _ transfer: Transfer) throws {
    let coding = head["Content-Encoding"]?.lowercased() ?? "identity"
    guard coding == "identity" else {
      throw FetchError(
        .unexpectedResponse, "the content is coded as \(coding), which was not asked for", status: head.status)
    }
    let isExpected =
      transfer.request.mediaType.map { $0.lowercased() == head.mediaType } ?? (head.mediaType != "text/html")
    guard isExpected else {
      throw FetchError(.unexpectedResponse, "the content is of the type \(head.mediaType)", status: head.status)
    }
  }

  private func write(
    _ head: HTTPAnswer, _ transfer: Transfer, _ file: PartialFile, total: Int64, _ silence: SilenceGuard
  ) async throws {
    let number = transfer.number
    let progress = TransferProgress(journal: journal, number: number, clock: clock)
    do {
      for try await bytes in head.body {
        silence.heard()
        if total >= 0, file.length + Int64(bytes.count) > total {
          throw FetchError(.unexpectedResponse, "there is more than the server has said", status: head.status)
        }
        if let most = transfer.request.mostBytes, file.length + Int64(bytes.count) > most { throw Self.tooLarge(most) }
        try file.append(bytes)
        progress.note(file.length)
      }
    } catch let error as FetchError {
      if error.code == .unexpectedResponse { try forget(number, file) }
      throw error
    } catch {
      try Task.checkCancellation()
      try journal.update(number) { $0.completed = file.length }
      throw FetchError(
        .unreachable, "the content was cut off: \(ConnectionFailure.reason(error))", status: head.status)
    }
    // Without a length, the content ends with the body.
    try journal.update(number) { ($0.completed, $0.total) = (file.length, total < 0 ? file.length : total) }
    guard total < 0 || file.length == total else {
      throw FetchError(.unreachable, "the content was cut off", status: head.status)
    }
  }
}
