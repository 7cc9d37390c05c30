public import Foundation

/// What one run of the fetch handler was for, what it came to, and what it cost.
public struct RunRecord: Sendable, Hashable, Codable {
  /// Why the handler ran.
  public var reason: FetchReason
  /// What it came to.
  public var result: FetchResult
  /// Whether there was no network. Such a run says nothing about the server, so that it is not counted as an error.
  public var isOffline: Bool
  /// How many items were inserted, changed or removed.
  public var items: Int
  /// How many bytes came over the network, heads included where they are known.
  public var bytes: Int
  /// How many requests were sent.
  public var requests: Int
  /// Processor time, user and system together, in milliseconds.
  public var cpuMilliseconds: Double
  /// Time from the wake to the end, in milliseconds.
  public var wallMilliseconds: Double
  /// The status of the last answer; nil if there was none.
  public var status: Int?
  /// The time of day at the wake.
  public var started: Date
  /// When the next wake was planned after the run; nil if none was.
  public var nextWake: Date?

  /// A record.
  ///
  /// - Parameters:
  ///   - reason: Why the handler ran.
  ///   - result: What it came to.
  ///   - started: The time of day at the wake.
  ///   - isOffline: Whether there was no network.
  ///   - items: Items inserted, changed or removed.
  ///   - bytes: Bytes received.
  ///   - requests: Requests sent.
  ///   - cpuMilliseconds: Processor time.
  ///   - wallMilliseconds: Time from the wake to the end.
  ///   - status: The status of the last answer.
  ///   - nextWake: The wake planned after the run.
  public init(
    reason: FetchReason, result: FetchResult, started: Date, isOffline: Bool = false, items: Int = 0, bytes: Int = 0,
    requests: Int = 0, cpuMilliseconds: Double = 0, wallMilliseconds: Double = 0, status: Int? = nil,
    nextWake: Date? = nil
  ) {
    self.reason = reason
    self.result = result
    self.started = started
    self.isOffline = isOffline
    self.items = items
    self.bytes = bytes
    self.requests = requests
    self.cpuMilliseconds = cpuMilliseconds
    self.wallMilliseconds = wallMilliseconds
    self.status = status
    self.nextWake = nextWake
  }
}
