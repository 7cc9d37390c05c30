import Fleet
import Testing

@Suite struct `The counts of a log of nginx` {
  /// Returns a line of the log.
  private func line(
    _ id: String, _ status: Int, _ bytes: Int, server: String = "-", _ upstream: String = "-", _ received: String = "-",
    cache: String = "-", target: String = "/v1/changes?since=1"
  ) -> String {
    [id, "\(status)", "\(bytes)", server, upstream, received, cache, "GET", target].joined(separator: "\t") + "\n"
  }

  @Test func `A response from the cache is one request that reaches no server`() throws {
    let log = try AccessLog(line("a", 304, 359, cache: "HIT"))
    #expect(log.requests == 1)
    #expect(log.notModified == 1)
    #expect(log.bytes == 359)
    #expect(log.upstreamRequests == 0)
    #expect(log.upstreamBytes == 0)
    #expect(log.caches == ["HIT": 1])
  }

  @Test func `A response that a server has sent counts on both sides`() throws {
    let log = try AccessLog(line("a", 304, 359, server: "127.0.0.1:1", "200", "410", cache: "MISS"))
    #expect((log.requests, log.notModified, log.bytes) == (1, 1, 359))
    #expect((log.upstreamRequests, log.upstreamNotModified, log.upstreamBytes) == (1, 0, 410))
  }

  @Test(arguments: [true, false])
  func `A refresh in the background is not a request of a client, whatever the order of the lines`(isFirst: Bool) throws
  {
    let refresh = line("a", 200, 359, server: "127.0.0.1:1", "304", "313", cache: "REVALIDATED")
    let stale = line("a", 304, 359, cache: "STALE")
    let log = try AccessLog(isFirst ? refresh + stale : stale + refresh)
    #expect((log.requests, log.notModified, log.bytes) == (1, 1, 359))
    #expect((log.upstreamRequests, log.upstreamNotModified, log.upstreamBytes) == (1, 1, 313))
    #expect(log.caches == ["STALE": 1])
  }

  @Test func `Each server that was tried counts, with the bytes that it has sent`() throws {
    let log = try AccessLog(
      line("a", 200, 500, server: "127.0.0.1:1, 127.0.0.1:2", "502, 200", "0, 454", cache: "MISS"))
    #expect((log.requests, log.upstreamRequests, log.upstreamBytes) == (1, 2, 454))
  }

  @Test func `A long poll that the client has given up was sent to a server`() throws {
    let log = try AccessLog(line("a", 499, 0, server: "127.0.0.1:1", cache: "BYPASS"))
    #expect((log.requests, log.bytes, log.upstreamRequests, log.upstreamBytes) == (1, 0, 1, 0))
    #expect(log.statuses == [499: 1])
  }

  @Test func `Editors and probes are not counted`() throws {
    let log = try AccessLog(
      line("a", 200, 200, server: "127.0.0.1:1", "200", "100", target: "/healthz")
        + line("b", 201, 200, server: "127.0.0.1:1", "201", "100", target: "/v1/editorial/items"))
    #expect(log == AccessLog())
  }

  @Test func `Logs of several edges are added`() throws {
    let first = try AccessLog(line("a", 304, 359, cache: "HIT"))
    let second = try AccessLog(line("a", 200, 500, server: "127.0.0.1:1", "200", "454", cache: "MISS"))
    let both = first + second
    #expect((both.requests, both.notModified, both.bytes, both.upstreamBytes) == (2, 1, 859, 454))
    #expect(both.statuses == [304: 1, 200: 1])
    #expect(both.caches == ["HIT": 1, "MISS": 1])
  }

  @Test func `A line of another form is reported with its number`() {
    let error = #expect(throws: AccessLog.ReadError.self) { try AccessLog(line("a", 304, 359) + "127.0.0.1 - GET\n") }
    #expect(error?.line == 2)
  }
}

@Suite struct `The table of a check` {
  @Test(arguments: [900.0, 1000, 1100]) func `A deviation of up to 10 per cent of the real count is accepted`(
    simulated: Double
  ) {
    var comparison = Comparison()
    comparison.add("requests", simulated: simulated, counted: 1000)
    #expect(comparison.failures.isEmpty)
  }

  @Test(arguments: [(899.0, 1000.0), (1101, 1000), (1, 0), (0, 1)]) func `A larger deviation is a failure`(
    simulated: Double, counted: Double
  ) {
    var comparison = Comparison()
    comparison.add("requests", simulated: simulated, counted: counted)
    #expect(comparison.failures.map(\.name) == ["requests"])
    #expect(comparison.description.contains("TOO FAR"))
  }

  @Test func `Two counts of zero are equal`() {
    var comparison = Comparison()
    comparison.add("queries", simulated: 0, counted: 0)
    #expect(comparison.failures.isEmpty)
  }

  @Test func `A count for information never fails`() {
    var comparison = Comparison()
    comparison.add("messages", simulated: 10, counted: 1000, isLimited: false)
    #expect(comparison.failures.isEmpty)
  }
}
