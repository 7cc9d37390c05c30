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
  /// When it was resumed first.
  var begun: Date?
  /// When it may be tried again.
  var due = Date.distantPast
  /// How many attempts have failed since the last that moved anything.
  var failures = 0
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

/// What a session's delegate is told of.
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
