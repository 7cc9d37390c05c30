/// The requests, the bytes and the operations of a day.
public struct FleetCounts: Sendable, Hashable {
  /// The requests that edges, nginx and servers receive. Those of the database are operations.
  public internal(set) var requests: [Tier: Timeline]
  /// The bytes that these send towards the phones.
  public internal(set) var bytes: [Tier: Timeline]
  /// The responses 304 to phones.
  public internal(set) var notModified: Timeline
  /// The connections that are held in each second: long polls and event streams.
  public internal(set) var held: Timeline
  /// The operations.
  public internal(set) var operations: [Operation: Timeline]

  init(duration: Double) {
    let empty = Timeline(duration: duration)
    requests = Dictionary(uniqueKeysWithValues: [Tier.edge, .proxy, .server].map { ($0, empty) })
    bytes = requests
    operations = Dictionary(uniqueKeysWithValues: Operation.allCases.map { ($0, empty) })
    (notModified, held) = (empty, empty)
  }

  /// Returns the number of requests that a tier receives; 0 for the database.
  public func requests(_ tier: Tier) -> Double { requests[tier]?.total ?? 0 }

  /// Returns the bytes that a tier sends; 0 for the database.
  public func bytes(_ tier: Tier) -> Double { bytes[tier]?.total ?? 0 }

  /// Returns the number of operations of a kind.
  public func count(_ operation: Operation) -> Double { operations[operation]?.total ?? 0 }

  /// A period in which something happens, in seconds since the beginning of the day.
  struct Span {
    var start: Double
    var end: Double

    init(_ start: Double, _ end: Double) { (self.start, self.end) = (start, end) }
    init(_ time: Double) { (start, end) = (time, time) }
  }

  mutating func add(_ operation: Operation, _ amount: Double = 1, _ span: Span) {
    operations[operation]?.add(amount, from: span.start, to: span.end)
  }

  /// Adds requests that a tier receives, and the bytes of all their responses.
  mutating func add(_ tier: Tier, requests amount: Double = 1, bytes size: Double, _ span: Span) {
    requests[tier]?.add(amount, from: span.start, to: span.end)
    bytes[tier]?.add(size, from: span.start, to: span.end)
  }

  /// Adds bytes to those of responses that are counted already.
  mutating func add(_ tier: Tier, bytes size: Double, _ span: Span) {
    bytes[tier]?.add(size, from: span.start, to: span.end)
  }
}
