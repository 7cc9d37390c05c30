public import Foundation
public import News

/// The right of a process to poll a feed until a time.
public struct SubscriptionLease: Sendable {
  /// The subscription at the start of the poll.
  public let subscription: Subscription
  /// The user and the password for the feed; nil without any.
  public let credentials: FeedCredentials?
  /// The reason why the password cannot be read; nil if it can.
  public let credentialsProblem: String?
  /// The entity tag of the last response.
  public let etag: String?
  /// The date of the last response's content, as it was sent.
  public let lastModified: String?
  /// The cadence and the hints of the feed as JSON, as the last poll has written them.
  public let pacing: Data?
  /// The number of failures since the last success.
  public let failures: Int
  /// The time before which the server of the feed asks for no request; nil if it does not.
  public let notBefore: Date?
  /// The number of new items in the current period of a day.
  public let newItems: Int
  /// The time of the start, by the database's clock.
  public let start: Date
  let token: UUID
}

/// The parts of a feed that a poll could not keep.
public struct PollLosses: Sendable, Equatable {
  /// The maximum number of messages.
  private static let maximumMessages = 10
  /// The maximum length of a message in characters.
  private static let maximumLength = 300

  /// The number of losses.
  public private(set) var count = 0
  /// The first losses, in words.
  public private(set) var messages: [String] = []

  /// Creates a report without losses.
  public init() {}

  /// Adds a loss.
  public mutating func add(_ message: String) {
    count += 1
    if messages.count < Self.maximumMessages {
      messages.append(String(message.terminalSafe.prefix(Self.maximumLength)))
    }
  }
}

/// The outcome of a poll.
public struct PollOutcome: Sendable {
  /// The time until the next poll, in seconds.
  public var wait: Double
  /// The time in seconds before which the server asks for no request at all, not even for one by hand.
  public var retryAfter: Double?
  /// The failure; nil for a success.
  public var failure: (status: Int?, message: String)?
  /// Whether polling ends until an editor resumes it.
  public var pauses = false
  /// The new address: that after permanent redirects, or that of the feed that was found on a page.
  public var movedTo: String?
  /// The title of the feed, which is used if editors have given none.
  public var title: String?
  /// The language of the feed, which is used if editors have given none.
  public var language: String?
  /// The validators of the response; nil to keep the last ones.
  public var validators: (etag: String?, lastModified: String?)?
  /// The cadence and the hints of the feed as JSON; nil to keep the last ones.
  public var pacing: Data?
  /// The entries that were stored.
  public var entries = ImportCounts()
  /// The losses; nil if the feed was not read, to keep the last report.
  public var losses: PollLosses?

  /// Creates the outcome of a success without further facts.
  public init(wait: Double) {
    self.wait = wait
  }
}
