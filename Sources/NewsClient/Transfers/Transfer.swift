import BackgroundFetch
public import Foundation

/// A transfer, and how far it has come.
public struct Transfer: Sendable, Hashable, Codable {
  /// What it does.
  public enum State: String, Sendable, Hashable, Codable {
    /// Nothing, until it is resumed.
    case suspended
    /// It is under way, or waits for its turn, for a condition or for the next attempt.
    case running
    /// It is whole.
    case finished
    /// It was given up, for the reason in ``Transfer/failure``.
    case failed
    /// Somebody did not want it any more.
    case cancelled

    /// Whether nothing will change it any more.
    public var isOver: Bool { [.finished, .failed, .cancelled].contains(self) }
  }

  /// A condition that a discretionary transfer waits for.
  public enum Obstacle: String, Sendable, Hashable, Codable {
    /// The machine runs on its battery, or has little power left.
    case power
    /// The network is paid by volume.
    case network
  }

  /// What the server has said to an upload.
  public struct Answer: Sendable, Hashable, Codable {
    /// 200...299.
    public var status: Int
    /// `Location`.
    public var location: String?
    /// At most 64 KiB.
    public var body: Data
  }

  /// What sets it apart from the others of a store; never used again.
  public internal(set) var number: Int64 = 0
  /// The identifier of its session, nil if it has none.
  public internal(set) var session: String?
  /// What is transferred.
  public var request: TransferRequest
  /// Anything, for whoever made it.
  public var taskDescription: String?
  /// What it does.
  public internal(set) var state = State.suspended
  /// How many bytes are here, or there for an upload.
  public internal(set) var completed: Int64 = 0
  /// How many there are; nil as long as that is not known.
  public internal(set) var total: Int64?
  /// Why it has failed, or what the last attempt has met; for people.
  public internal(set) var failure: String?
  /// What an upload came to.
  public internal(set) var answer: Answer?
  /// The condition that it waits for; nil if it waits for none.
  public internal(set) var obstacle: Obstacle?
  /// When it was resumed first.
  var start: FetchMoment?
  /// The time until the next attempt; nil if it may begin at once.
  var waiting: Waiting?
  /// How many attempts in a row have failed without moving a fair part.
  var failures = 0
  /// The first of the attempts in a row that had no answer at all.
  var silentSince: FetchMoment?
  /// Whether header fields were sent that are not kept any more.
  var hasLostHeaders: Bool?
  /// The strong tag of what is here of a download.
  var entityTag: String?
  /// What the server says that the content is, in hexadecimal digits.
  var announcedSHA256: String?

  init(_ request: TransferRequest, session: String?, description: String?) {
    self.request = request
    self.session = session
    taskDescription = description
  }
}

extension Transfer {
  /// The seconds until the next attempt, 0 if there is nothing to wait for.
  func remaining(at now: FetchMoment) -> Double { waiting?.remaining(at: now) ?? 0 }

  /// The seconds until it is given up.
  func timeLeft(at now: FetchMoment) -> Double { request.patience - (start.map { now.elapsed(since: $0) } ?? 0) }

  /// Removes header fields, which may be secrets, from a transfer that is over.
  ///
  /// - Returns: Whether there were any.
  mutating func dropHeaders() -> Bool {
    guard state.isOver, !request.headers.isEmpty else { return false }
    (request.headers, hasLostHeaders) = ([:], true)
    return true
  }
}

/// An event that a session reports to its delegate.
struct TransferEvent: Sendable, Hashable, Codable {
  enum Kind: Sendable, Hashable, Codable {
    /// A download goes on from an offset.
    case resumed(Int64)
    /// It is over; its state and failure tell how.
    case completed
  }

  var number: Int64 = 0
  var transfer: Int64
  var kind: Kind
}

extension Transfer {
  /// The seconds until an attempt may begin: its own wait, or the one that its server has demanded.
  func delay(holds: OriginHolds, at now: FetchMoment) -> Double {
    max(remaining(at: now), holds.remaining(request.url))
  }
}

extension FetchConstraints {
  /// The condition that a discretionary transfer has to wait for; nil if there is none.
  var obstacle: Transfer.Obstacle? {
    if isOnBattery || isLowPower { return .power }
    return isMetered ? .network : nil
  }
}
