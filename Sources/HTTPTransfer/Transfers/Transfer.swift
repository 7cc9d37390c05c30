public import Foundation
import HTTPConditions

/// A download or upload, and its progress.
///
///     for transfer in try journal.transfers() where transfer.state == .failed {
///       print(transfer.number, transfer.failure ?? "unknown reason")
///     }
public struct Transfer: Sendable, Hashable, Codable {
  /// The state of a transfer. The counterpart of `URLSessionTask.State`.
  ///
  ///     let active = try journal.transfers().filter { !$0.state.isOver }
  ///     print(active.count, "downloads and uploads remain")
  public enum State: String, Sendable, Hashable, Codable {
    /// The transfer is stopped until it is resumed.
    case suspended
    /// The transfer is active, or waits for its turn, for a condition or for the next attempt.
    case running
    /// The transfer is complete.
    case finished
    /// The transfer was given up, for the reason in ``Transfer/failure``.
    case failed
    /// The transfer was cancelled.
    case cancelled

    /// Whether the transfer has ended. Only a failed one can be resumed.
    public var isOver: Bool { [.finished, .failed, .cancelled].contains(self) }
  }

  /// A condition that a discretionary transfer waits for.
  ///
  ///     for transfer in try journal.transfers() where transfer.obstacle == .network {
  ///       print(transfer.number, "waits for an unmetered network")
  ///     }
  public enum Obstacle: String, Sendable, Hashable, Codable {
    /// The machine runs on battery, or is low on power.
    case power
    /// The network is metered.
    case network
  }

  /// The server's response to an upload.
  ///
  ///     for transfer in try journal.transfers() {
  ///       guard let response = transfer.response else { continue }
  ///       print(response.status, response.location ?? "", response.body.count)
  ///     }
  public struct Response: Sendable, Hashable, Codable {
    /// The status, 200...299.
    public var status: Int
    /// The `Location` field.
    public var location: String?
    /// The beginning of the body, at most 64 KiB.
    public var body: Data
  }

  /// The number, unique among the transfers of a store and never reused.
  public internal(set) var number: Int64 = 0
  /// The identifier of the session; nil without a session.
  public internal(set) var session: String?
  /// The content to transfer, and its conditions.
  public var request: TransferRequest
  /// A description for the app's own use. The counterpart of `URLSessionTask.taskDescription`.
  public var taskDescription: String?
  /// The current state.
  public internal(set) var state = State.suspended
  /// The number of bytes received, or sent by an upload.
  public internal(set) var completed: Int64 = 0
  /// The total number of bytes; nil while it is unknown.
  public internal(set) var total: Int64?
  /// The reason of the failure, or of the last failed attempt, in words for users.
  public internal(set) var failure: String?
  /// The server's response to an upload.
  public internal(set) var response: Response?
  /// The condition that the transfer waits for; nil if there is none.
  public internal(set) var obstacle: Obstacle?
  /// The moment of the first resume, since the last failure if there was one.
  var start: FetchInstant?
  /// The wait before the next attempt; nil if it may begin at once.
  var waiting: WaitingPeriod?
  /// The number of consecutive attempts that failed with little or no progress.
  var failures = 0
  /// The moment of the first consecutive attempt without any response.
  var unansweredSince: FetchInstant?
  /// The moment at which the present attempt began; nil if none is under way. A worker that has crashed leaves it behind.
  var attempt: FetchInstant?
  /// The number of consecutive attempts without progress during which a worker has crashed; nil for none.
  var crashes: Int?
  /// The number of bytes that were held at the last of these crashes.
  var bytesAtCrash: Int64?
  /// The number of consecutive attempts whose content was of no use, because it ended too early and brought nothing new, or
  /// was damaged; nil for none.
  var wastedAttempts: Int?
  /// Whether header fields were sent that are no longer stored.
  var hasLostHeaders: Bool?
  /// Whether the end of the transfer may launch the app of its session; nil if it may.
  var sendsLaunchEvents: Bool?
  /// The address at which the server receives the rest of an upload; nil if it has not begun one.
  var partialUpload: URL?
  /// Whether the server receives uploads in several requests; nil if it is unknown.
  var acceptsParts: Bool?
  /// The number of bytes that were held when the server last ended the content too early; nil if none such is counted.
  var bytesAtEarlyEnd: Int64?
  /// The strong entity tag of the received part of a download.
  var entityTag: String?
  /// The content codings that the server declares for the received part, separated by commas; nil for none.
  var coding: String?
  /// Whether the coding is a part of the wanted file, as it is for an archive that the server takes for a coded one.
  var isCodingKept: Bool?
  /// The SHA-256 of the content, with its coding, that the server announces, in hexadecimal digits.
  var announcedSHA256: String?

  /// The stored names of the properties.
  private enum CodingKeys: String, CodingKey {
    case response = "answer"
    case unansweredSince = "silentSince"
    case number, session, request, taskDescription, state, completed, total, failure, obstacle, start, waiting
    case attempt, crashes, bytesAtCrash, wastedAttempts
    case failures, hasLostHeaders, sendsLaunchEvents, partialUpload, acceptsParts, entityTag, announcedSHA256
    case coding, isCodingKept, bytesAtEarlyEnd
  }

  init(_ request: TransferRequest, session: String?, description: String?) {
    self.request = request
    self.session = session
    taskDescription = description
  }
}

extension Transfer {
  /// The content codings that the server declares for the received part.
  var codings: DeclaredCodings { DeclaredCodings(lines: coding.map { [$0] } ?? []) }

  /// Returns the seconds until the next attempt, 0 if there is no wait.
  func remaining(at now: FetchInstant) -> Double { waiting?.remaining(at: now) ?? 0 }

  /// The time for which a transfer is tried alone after a crash, in seconds.
  private static let probation = 10.0

  /// Returns the seconds for which the transfer is suspected of a crash and must be tried alone: a worker has crashed during
  /// the last attempt, and the present one is young and has not come further; nil without suspicion.
  func suspicion(at now: FetchInstant) -> Double? {
    guard crashes != nil, completed <= bytesAtCrash ?? 0 else { return nil }
    let left = Self.probation - (attempt.map { now.elapsed(since: $0) } ?? 0)
    return left > 0 ? left : nil
  }

  /// Forgets the attempts whose failures count.
  mutating func forgiveFailures() {
    (waiting, failures, failure, unansweredSince) = (nil, 0, nil, nil)
    (attempt, crashes, bytesAtCrash, wastedAttempts, bytesAtEarlyEnd) = (nil, nil, nil, nil, nil)
  }

  /// Returns the seconds until the transfer is given up.
  func timeLeft(at now: FetchInstant) -> Double { request.timeoutSeconds - (start.map { now.elapsed(since: $0) } ?? 0) }

  /// Removes header fields, which may be secrets, from a transfer that has ended.
  ///
  /// - Returns: Whether there were any.
  mutating func dropHeaders() -> Bool {
    guard state.isOver, !request.headers.isEmpty else { return false }
    (request.headers, hasLostHeaders) = ([:], true)
    return true
  }

  /// Returns the seconds until an attempt may begin: the longer of its own wait and the one that its server demands.
  func delay(retryAfterStore: RetryAfterStore, at now: FetchInstant) -> Double {
    max(remaining(at: now), retryAfterStore.remaining(for: request.url))
  }
}
