import Foundation

/// One attempt at a download. It resumes the last attempt if the server still has the same content, and never mixes two
/// versions.
struct Download {
  /// The maximum time without data from the server.
  static let idleLimit = Duration.seconds(60)

  let journal: TransferJournal
  let requester: HTTPRequester
  let clock: any FetchClock

  /// The response does not belong to the partial content. A new request may succeed.
  private struct Restart: Error {}

  /// Downloads the missing part of a transfer.
  ///
  /// - Throws: ``FetchError``, `CancellationError`. Received bytes are kept, unless they are the wrong content.
  func run(_ transfer: Transfer) async throws {
    let destination = journal.completeFile(transfer)
    let partial = journal.partialFile(transfer)
    // A process that was killed between the last two steps has moved the file.
    let isMoved =
      transfer.total != nil && transfer.completed == transfer.total && !partial.exists && destination.exists
    if isMoved, try hasExpectedDigest(transfer, destination) { return try finish(transfer.number) }
    let file = try PartialFile(partial)
    defer { file.closeFile() }
    // If the file is complete, only the last steps are missing.
    if !(transfer.total == file.length && file.length > 0) {
      do {
        try await fetch(transfer, file)
      } catch is Restart {
        try discard(transfer.number, file, isWasted: true)
        guard let fresh = try journal.transfer(transfer.number) else { return }
        do { try await fetch(fresh, file) } catch is Restart {
          throw FetchError(.unexpectedResponse, "the server sent a part of the file although all of it was requested")
        }
      }
    }
    guard let current = try journal.transfer(transfer.number), current.state == .running else { return }
    guard try hasExpectedDigest(current, partial) else {
      let isDamaged = try current.announcedSHA256.map { try $0.lowercased() != PartialFile.sha256(partial) } ?? false
      try discard(transfer.number, file, isWasted: isDamaged)
      throw FetchError(.unexpectedResponse, "the content does not have the expected SHA-256")
    }
    try file.move(from: partial, to: destination)
    try finish(transfer.number)
  }

  private func finish(_ number: Int64) throws {
    try journal.updateWithEvent(number) { transfer in
      // A transfer that was cancelled at the last moment stays cancelled.
      guard transfer.state == .running else { return nil }
      transfer.state = .finished
      transfer.completed = transfer.total ?? transfer.completed
      transfer.failure = nil
      return .completed
    }
  }

  /// Discards the received bytes, to begin again.
  ///
  /// - Parameter isWasted: Whether the attempt counts as one with useless content.
  private func discard(_ number: Int64, _ file: PartialFile, isWasted: Bool) throws {
    try journal.update(number) { transfer in
      (transfer.completed, transfer.total, transfer.entityTag, transfer.announcedSHA256) = (0, nil, nil, nil)
      if isWasted { transfer.wastedAttempts = (transfer.wastedAttempts ?? 0) + 1 }
    }
    try file.empty()
  }

  /// Whether the content matches the requested digest and the announced one.
  private func hasExpectedDigest(_ transfer: Transfer, _ file: URL) throws -> Bool {
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
    let idleTimeout = IdleTimeout(limit: Self.idleLimit, clock: clock)
    let own = transfer.request.headers.map { HTTPHeader($0, $1) }
    try await idleTimeout.run { [fields] in
      var meter = HTTPRequester.Meter()
      let head = try await requester.open(transfer.request.url, fields: fields, originFields: own, meter: &meter)
      idleTimeout.reset()
      guard [200, 206, 416].contains(head.status) else { throw await requester.refusal(reading: head) }
      guard let total = try begin(head, transfer, file) else { return }
      try await write(head, transfer, file, total: total, idleTimeout)
    }
  }

  /// Evaluates the head of a response.
  ///
  /// - Returns: The total number of bytes, negative if the server does not declare it; nil if all bytes have been received.
  /// - Throws: `Restart` if the received bytes cannot be continued; ``FetchError`` for other content.
  private func begin(_ head: HTTPTransportResponse, _ transfer: Transfer, _ file: PartialFile) throws -> Int64? {
    let offset = file.length
    switch head.status {
    case 206:
      guard let range = ContentRangeField(head["Content-Range"]), offset > 0, range.first == offset,
        range.total == nil || range.total == transfer.total, head["ETag"] ?? transfer.entityTag == transfer.entityTag
      else { throw Restart() }
      try check(head, transfer)
      try journal.updateWithEvent(transfer.number) {
        $0.completed = offset
        $0.announcedSHA256 = head.reprSHA256 ?? $0.announcedSHA256
        return .resumed(offset)
      }
      return transfer.total ?? -1
    case 200:
      try check(head, transfer)
      try file.empty()
      let length = head["Content-Length"].flatMap(Int64.init)
      if let maximum = transfer.request.maximumBytes, let length, length > maximum { throw Self.tooLarge(maximum) }
      try journal.update(transfer.number) {
        ($0.completed, $0.total, $0.entityTag, $0.announcedSHA256) = (0, length, head.strongTag, head.reprSHA256)
      }
      return length ?? -1
    case 416:
      // The version is the same, since it has failed no `If-Range`. All bytes have been received, whatever length a response
      // has declared before.
      guard offset > 0, ContentRangeField.unsatisfied(head["Content-Range"]) == offset else { throw Restart() }
      try journal.update(transfer.number) { ($0.completed, $0.total) = (offset, offset) }
      return nil
    default:
      throw requester.refusal(head)
    }
  }

  private static func tooLarge(_ maximum: Int64) -> FetchError {
    FetchError(.rejected, "the content has more than \(maximum) bytes")
  }

  /// Rejects other content, such as the page of a captive portal.
  private func check(_ head: HTTPTransportResponse, _ transfer: Transfer) throws {
    let coding = head["Content-Encoding"]?.lowercased() ?? "identity"
    guard coding == "identity" else {
      throw FetchError(
        .unexpectedResponse, "the content has the coding \(coding), which was not requested", status: head.status)
    }
    let isExpected =
      transfer.request.mediaType.map { $0.lowercased() == head.mediaType } ?? (head.mediaType != "text/html")
    guard isExpected else {
      throw FetchError(.unexpectedResponse, "the content has the media type \(head.mediaType)", status: head.status)
    }
  }

  private func write(
    _ head: HTTPTransportResponse, _ transfer: Transfer, _ file: PartialFile, total: Int64, _ idleTimeout: IdleTimeout
  ) async throws {
    let number = transfer.number
    let progress = ProgressRecorder(journal: journal, number: number, clock: clock)
    let start = file.length
    do {
      for try await bytes in head.body {
        idleTimeout.reset()
        if total >= 0, file.length + Int64(bytes.count) > total {
          throw FetchError(.unexpectedResponse, "the server sent more bytes than it declared", status: head.status)
        }
        if let maximum = transfer.request.maximumBytes, file.length + Int64(bytes.count) > maximum {
          throw Self.tooLarge(maximum)
        }
        try file.append(bytes)
        progress.record(file.length)
      }
    } catch let error as FetchError {
      if error.code == .unexpectedResponse { try discard(number, file, isWasted: true) }
      throw error
    } catch {
      try Task.checkCancellation()
      if (error as? HTTPTransportError)?.detail == .earlyEnd {
        throw try earlyEnd(number, file, from: start, of: total, head.status)
      }
      try journal.update(number) { $0.completed = file.length }
      let received = ByteAmount.text(file.length, of: total)
      throw FetchError(
        .unreachable, "the content was interrupted after \(received): \(ConnectionFailure.reason(error))",
        status: head.status)
    }
    guard total < 0 || file.length == total else {
      throw try earlyEnd(number, file, from: start, of: total, head.status)
    }
    // Without a length, the content ends with the body.
    try journal.update(number) { ($0.completed, $0.total) = (file.length, file.length) }
  }

  /// Records that the server has closed the connection before the end of the content. Attempts that end so, and bring nothing
  /// new, are counted: a server may declare a wrong length.
  ///
  /// - Parameter start: The number of bytes that were held when the content began.
  /// - Returns: The error.
  private func earlyEnd(
    _ number: Int64, _ file: PartialFile, from start: Int64, of total: Int64, _ status: Int
  ) throws -> FetchError {
    let isUseful = start > 0 && file.length > start
    let changed = try journal.update(number) { transfer in
      transfer.wastedAttempts = isUseful ? 1 : (transfer.wastedAttempts ?? 0) + 1
      transfer.completed = file.length
      if total >= 0 { transfer.total = total }
    }
    let attempts = changed?.wastedAttempts ?? 1
    let repetition = attempts > 2 ? ", and too early in \(attempts) attempts" : ""
    let received = ByteAmount.text(file.length, of: total)
    return FetchError(.unreachable, "the connection ended after \(received)\(repetition)", status: status)
  }
}
