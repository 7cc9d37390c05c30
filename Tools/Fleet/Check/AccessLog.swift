/// The counts of a log of nginx in the format of `scripts/fleet-check`: a line for each request, and one for each
/// request in the background that refreshes a cache (`log_subrequest`). The fields are separated by tabs:
/// `$request_id`, `$status`, `$bytes_sent`, `$upstream_addr`, `$upstream_status`, `$upstream_bytes_received`,
/// `$upstream_cache_status`, `$request_method`, `$request_uri`.
///
///     let log = try AccessLog("3f\t304\t359\t-\t-\t-\tHIT\tGET\t/v1/state\n")
///     print(log.requests, log.notModified, log.bytes, log.upstreamRequests)  // 1 1 359 0
public struct AccessLog: Sendable, Equatable {
  /// The error for a line that has another form.
  public struct ReadError: Error, CustomStringConvertible {
    /// The number of the line, from 1.
    public let line: Int

    /// A message with the number of the line.
    public var description: String { "line \(line) of the log of nginx does not have nine fields" }
  }

  /// The requests of clients.
  public private(set) var requests = 0
  /// The requests of clients that were answered with 304.
  public private(set) var notModified = 0
  /// The bytes sent to clients, heads included.
  public private(set) var bytes = 0
  /// The requests sent to the next server, those in the background included.
  public private(set) var upstreamRequests = 0
  /// The responses of the next server with the status 304.
  public private(set) var upstreamNotModified = 0
  /// The bytes received from the next server, heads included.
  public private(set) var upstreamBytes = 0
  /// The requests of clients by the status of the response.
  public private(set) var statuses: [Int: Int] = [:]
  /// The requests of clients by the status of the cache, such as `HIT`.
  public private(set) var caches: [String: Int] = [:]

  /// A line of the log.
  private struct Line {
    var id: Substring
    var status: Int
    var bytes: Int
    /// The number of servers that were asked in turn.
    var attempts: Int
    /// The statuses of their responses. A server that has not answered has none.
    var upstream: [Int]
    var upstreamBytes: Int
    var cache: String
    var target: Substring

    init?(_ text: Substring) {
      let fields = text.split(separator: "\t", omittingEmptySubsequences: false)
      guard fields.count == 9, let status = Int(fields[1]), let bytes = Int(fields[2]) else { return nil }
      (id, self.status, self.bytes) = (fields[0], status, bytes)
      attempts = fields[3] == "-" ? 0 : Self.values(fields[3]).count
      upstream = Self.values(fields[4]).compactMap { Int($0) }
      upstreamBytes = Self.values(fields[5]).compactMap { Int($0) }.reduce(0, +)
      (cache, target) = (String(fields[6]), fields[8])
    }

    /// Splits the values of the servers that were asked.
    private static func values(_ field: Substring) -> [Substring] { field.split { $0 == "," || $0 == " " } }
  }

  /// Creates the counts of an empty log.
  public init() {}

  /// Counts the lines of a log whose target is of the API. Those of editors, and probes of the server's health, are
  /// omitted.
  ///
  /// - Throws: ``ReadError``.
  public init(_ text: some StringProtocol) throws {
    var answered: Set<Substring> = []
    var background: [Substring: Line] = [:]
    for (index, line) in Substring(text).split(separator: "\n").enumerated() {
      guard let line = Line(line) else { throw ReadError(line: index + 1) }
      guard line.target.hasPrefix("/v1/"), !line.target.hasPrefix("/v1/editorial/") else { continue }
      upstreamRequests += line.attempts
      upstreamNotModified += line.upstream.count { $0 == 304 }
      upstreamBytes += line.upstreamBytes
      // A request in the background has the id of the request that has started it, which is answered from the cache.
      if line.attempts == 0 {
        count(line)
        answered.insert(line.id)
        background[line.id] = nil
      } else if !answered.contains(line.id) {
        background[line.id] = line
      }
    }
    for line in background.values { count(line) }
  }

  /// Adds the counts of another log.
  public static func + (first: AccessLog, second: AccessLog) -> AccessLog {
    var sum = first
    sum.requests += second.requests
    sum.notModified += second.notModified
    sum.bytes += second.bytes
    sum.upstreamRequests += second.upstreamRequests
    sum.upstreamNotModified += second.upstreamNotModified
    sum.upstreamBytes += second.upstreamBytes
    sum.statuses.merge(second.statuses, uniquingKeysWith: +)
    sum.caches.merge(second.caches, uniquingKeysWith: +)
    return sum
  }

  private mutating func count(_ line: Line) {
    requests += 1
    if line.status == 304 { notModified += 1 }
    bytes += line.bytes
    statuses[line.status, default: 0] += 1
    caches[line.cache, default: 0] += 1
  }
}
