public import Foundation

/// The reason, the result and the cost of one run of the fetch handler.
///
///     let run = RunRecord(reason: .scheduled, result: .newData, started: Date(), items: 3, bytes: 2300)
///     print(run.items, run.isOffline)  // 3 false
public struct RunRecord: Sendable, Hashable, Codable {
  /// The reason of the run.
  public var reason: FetchReason
  /// The result of the run.
  public var result: FetchResult
  /// Whether there was no network. Such a run does not count as an error, because it did not reach the server.
  public var isOffline: Bool
  /// The number of items that were inserted, changed or removed.
  public var items: Int
  /// The number of bytes received, including header sections where their size is known.
  public var bytes: Int
  /// The number of requests sent.
  public var requests: Int
  /// The processor time, user and system together, in milliseconds.
  public var cpuMilliseconds: Double
  /// The time from the wake to the end, in milliseconds.
  public var wallMilliseconds: Double
  /// The HTTP status of the last response; nil if there was none.
  public var status: Int?
  /// The time of day at the wake.
  public var started: Date
  /// The date of the next wake as planned after the run; nil if none was planned.
  public var nextWake: Date?
  /// The number of items that a full copy has received so far, if the run has continued one and pages are missing; nil
  /// otherwise. Such a run is progress, although nothing is shown yet.
  public var received: Int?
  /// The failures of the notifications of the run; nil if there were none.
  public var notice: String?
  /// The exit status of the user's program for new items; nil if it was not run or was ended by a signal.
  public var programStatus: Int32?

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - reason: The reason of the run.
  ///   - result: The result of the run.
  ///   - started: The time of day at the wake.
  ///   - isOffline: Whether there was no network.
  ///   - items: The number of items inserted, changed or removed.
  ///   - bytes: The number of bytes received.
  ///   - requests: The number of requests sent.
  ///   - cpuMilliseconds: The processor time in milliseconds.
  ///   - wallMilliseconds: The time from the wake to the end in milliseconds.
  ///   - status: The HTTP status of the last response.
  ///   - nextWake: The date of the wake planned after the run.
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
