import Foundation
import HTTPConditions

/// One attempt at a download. It resumes the last attempt if the server still has the same content, and never mixes two
/// versions.
struct Download {
  /// The maximum time without data from the server.
  static let idleLimit = Duration.seconds(60)
  /// The number of bytes after which a shared budget is read again.
  private static let budgetCheckBytes: Int64 = 64 << 10

  /// The number of bytes that may be lost at the end of a connection: about what the buffers of its sockets hold.
  private static let lossBytes: Int64 = 256 << 10

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
    let isMoved = transfer.completed == transfer.total && !partial.exists && destination.exists
    if isMoved, try isComplete(transfer, destination) { return try finish(transfer.number) }
    let file = try PartialFile(partial, mode: journal.mode(of: transfer))
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
    do {
      try deliver(current, file, from: partial, to: destination)
    } catch let error as FetchError where error.code == .unexpectedResponse {
      let isDamaged = try !hasAnnouncedDigest(current, partial) || current.coding != nil
      try discard(transfer.number, file, isWasted: isDamaged)
      throw error
    }
    try finish(transfer.number)
  }

  /// Checks the digests of a complete download, and moves it to its destination without its coding.
  ///
  /// - Throws: ``FetchError`` with `unexpectedResponse` for wrong content.
  private func deliver(_ transfer: Transfer, _ file: PartialFile, from partial: URL, to destination: URL) throws {
    // `Repr-Digest` is that of the content with its coding (RFC 9530, section 3).
    guard try hasAnnouncedDigest(transfer, partial) else { throw Self.wrongDigest }
    let required = transfer.request.sha256?.lowercased()
    let isWanted = try required.map { try $0 == PartialFile.sha256(partial) }
    let isKept = isWanted ?? (transfer.isCodingKept == true)
    let layers = isKept ? 0 : try ContentDecoder.layers(of: partial, transfer.codings)
    guard layers > 0 else {
      guard isWanted ?? true else { throw Self.wrongDigest }
      return try file.move(from: partial, to: destination)
    }
    let decoded = journal.decodedFile(transfer)
    defer { try? FileManager.default.removeItem(at: decoded) }
    let output = try PartialFile(decoded, mode: journal.mode(of: transfer))
    defer { output.closeFile() }
    try output.empty()
    let maximum = transfer.request.maximumBytes ?? .max
    try ContentDecoder.decode(partial, layers: layers) { bytes in
      guard output.length + Int64(bytes.count) <= maximum else {
        throw FetchError(.rejected, "the content has more than \(maximum) bytes unpacked")
      }
      try output.append(bytes)
    }
    guard try required.map({ try $0 == PartialFile.sha256(decoded) }) ?? true else { throw Self.wrongDigest }
    try output.move(from: decoded, to: destination)
    try? FileManager.default.removeItem(at: partial)
  }

  private static let wrongDigest = FetchError(
    .unexpectedResponse, "the content does not have the expected SHA-256")

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
      (transfer.coding, transfer.isCodingKept) = (nil, nil)
      guard isWasted else { return }
      (transfer.wastedAttempts, transfer.bytesAtEarlyEnd) = ((transfer.wastedAttempts ?? 0) + 1, nil)
    }
    try file.empty()
  }

  /// Whether a file has the announced digest, or none was announced.
  private func hasAnnouncedDigest(_ transfer: Transfer, _ file: URL) throws -> Bool {
    try transfer.announcedSHA256.map { try $0.lowercased() == PartialFile.sha256(file) } ?? true
  }

  /// Whether a file at the destination is the complete download. The announced digest is that of the content with its coding.
  private func isComplete(_ transfer: Transfer, _ file: URL) throws -> Bool {
    let required =
      transfer.coding == nil ? transfer.announcedSHA256 ?? transfer.request.sha256 : transfer.request.sha256
    return try required.map { try $0.lowercased() == PartialFile.sha256(file) } ?? true
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
    try await idleTimeout.run { [fields] in
      var meter = HTTPRequester.Meter()
      let head = try await requester.open(
        transfer.request.url, fields: fields, originFields: transfer.request.fields, keepsCoding: true, meter: &meter)
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
        range.total == nil || range.total == transfer.total || head["ETag"] != nil,
        head["ETag"] ?? transfer.entityTag == transfer.entityTag,
        try codings(of: head) == transfer.codings
      else { throw Restart() }
      try check(head, transfer)
      let total = range.total ?? transfer.total
      try journal.updateWithEvent(transfer.number) {
        // The range of the same version is right about the total, whatever length was declared before.
        ($0.completed, $0.total) = (offset, total)
        $0.announcedSHA256 = head.reprSHA256 ?? $0.announcedSHA256
        return .resumed(offset)
      }
      return total ?? -1
    case 200:
      try check(head, transfer)
      try file.empty()
      let codings = try codings(of: head)
      // The length, the tag and the digest are those of the content with its coding, which the transport may have decoded.
      let isDecoded = !head.hasCoding && (codings.isDecodable || codings.undecodable != nil)
      let length = isDecoded ? nil : head["Content-Length"].flatMap(Int64.init)
      try checkMaximum(length ?? 0, transfer)
      try journal.update(transfer.number) {
        ($0.completed, $0.total) = (0, length)
        ($0.entityTag, $0.announcedSHA256) = isDecoded ? (nil, nil) : (head.strongTag, head.reprSHA256)
        $0.coding = isDecoded || codings.names.isEmpty ? nil : codings.names.joined(separator: ",")
        $0.isCodingKept = $0.coding == nil ? nil : isArchive($0, head)
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

  /// Checks that a number of bytes is within the maximum of the request and the rest of its budget.
  private func checkMaximum(_ bytes: Int64, _ transfer: Transfer) throws {
    if let maximum = transfer.request.maximumBytes, bytes > maximum {
      throw FetchError(.rejected, "the content has more than \(maximum) bytes")
    }
    guard let budget = transfer.request.budget else { return }
    let left = budget.maximumBytes - (try journal.bytes(of: budget, without: transfer.number))
    guard bytes <= left else {
      throw FetchError(.rejected, "the content has more than \(max(left, 0)) bytes, the rest of its budget")
    }
  }

  /// Rejects other content, such as the page of a captive portal.
  private func check(_ head: HTTPTransportResponse, _ transfer: Transfer) throws {
    let isExpected =
      transfer.request.mediaType.map { $0.lowercased() == head.mediaType } ?? (head.mediaType != "text/html")
    guard isExpected else {
      throw FetchError(.unexpectedResponse, "the content has the media type \(head.mediaType)", status: head.status)
    }
  }

  /// Returns the codings that a response declares for its content. The first bytes decide later whether it has them.
  ///
  /// - Throws: ``FetchError`` for a coding that cannot be decoded. None was requested.
  private func codings(of head: HTTPTransportResponse) throws -> DeclaredCodings {
    let codings = DeclaredCodings(lines: head[all: "Content-Encoding"])
    guard head.hasCoding, let name = codings.undecodable else { return codings }
    throw FetchError(
      .unexpectedResponse, "the content has the coding \(name), which was not requested", status: head.status)
  }

  /// Whether a compressed file is wanted as it is: its name or its type says that it is an archive. Many servers describe such
  /// files as coded.
  private func isArchive(_ transfer: Transfer, _ head: HTTPTransportResponse) -> Bool {
    let names = [transfer.request.file?.pathExtension, transfer.request.url.pathExtension].compactMap {
      $0?.lowercased()
    }
    return ["application/gzip", "application/x-gzip", "application/x-tgz"].contains(head.mediaType)
      || names.contains { ["gz", "gzip", "tgz", "svgz"].contains($0) }
  }

  private func write(
    _ head: HTTPTransportResponse, _ transfer: Transfer, _ file: PartialFile, total: Int64, _ idleTimeout: IdleTimeout
  ) async throws {
    let number = transfer.number
    let progress = ProgressRecorder(journal: journal, number: number, clock: clock)
    let start = file.length
    // The budget is read again after so many bytes, which other downloads may use meanwhile.
    var nextCheck = file.length + Self.budgetCheckBytes
    do {
      for try await bytes in head.body {
        idleTimeout.reset()
        if total >= 0, file.length + Int64(bytes.count) > total {
          throw FetchError(.unexpectedResponse, "the server sent more bytes than it declared", status: head.status)
        }
        let length = file.length + Int64(bytes.count)
        if length > transfer.request.maximumBytes ?? .max || transfer.request.budget != nil && length > nextCheck {
          try checkMaximum(length, transfer)
          try journal.update(number) { $0.completed = file.length }
          nextCheck = length + Self.budgetCheckBytes
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
    if total < 0 { try checkMaximum(file.length, transfer) }
    // Without a length, the content ends with the body.
    try journal.update(number) { ($0.completed, $0.total) = (file.length, file.length) }
  }

  /// Records that the server has closed the connection before the end of the content.
  ///
  /// A server that declares a wrong length ends each time at the same place. Such attempts are counted. A connection that is cut
  /// ends elsewhere, even if the server can resume nothing. The bytes that arrive together with the end of a connection may be
  /// lost, so that the place is not exact.
  ///
  /// - Parameter start: The number of bytes that were held when the content began.
  /// - Returns: The error.
  private func earlyEnd(
    _ number: Int64, _ file: PartialFile, from start: Int64, of total: Int64, _ status: Int
  ) throws -> FetchError {
    let isUseful = start > 0 && file.length > start
    let changed = try journal.update(number) { transfer in
      let tolerance = max(Self.lossBytes, max(total, file.length) / 8)
      let isRepeated = transfer.bytesAtEarlyEnd.map { abs($0 - file.length) <= tolerance } ?? true
      transfer.wastedAttempts = isRepeated && !isUseful ? (transfer.wastedAttempts ?? 0) + 1 : 1
      (transfer.completed, transfer.bytesAtEarlyEnd) = (file.length, file.length)
    }
    let attempts = changed?.wastedAttempts ?? 1
    let repetition = attempts > 2 ? ", and too early in \(attempts) attempts" : ""
    let received = ByteAmount.text(file.length, of: total)
    return FetchError(.unreachable, "the connection ended after \(received)\(repetition)", status: status)
  }
}
