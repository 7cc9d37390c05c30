import CoreMetrics
import Foundation
import HTTPEdge
import News
import NewsAPI
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite struct MetricsTests {
  private static func labels(_ route: String, _ method: String = "GET", _ status: Int? = nil) -> [String: String] {
    var labels = ["route": route, "method": method]
    if let status { labels["status"] = String(status) }
    return labels
  }

  @Test("Requests are counted by route, method and status, and their durations by route and method")
  func requests() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("x").item
      let before = try await server.scrape()
      for _ in 0..<3 { _ = try await server.get("/v1/items/\(item.id.uuidString.lowercased())") }
      _ = try await server.get("/v1/items/\(UUID())")
      _ = try await server.send("HEAD", "/v1/items?limit=1")
      _ = try await server.get("/v1/items?limit=0")
      let after = try await server.scrape()
      func more(_ name: String, _ labels: [String: String]) -> Double {
        after.value(name, labels) - before.value(name, labels)
      }
      #expect(more("tidings_http_requests_total", Self.labels("/v1/items/{id}", "GET", 200)) == 3)
      #expect(more("tidings_http_requests_total", Self.labels("/v1/items/{id}", "GET", 404)) == 1)
      #expect(more("tidings_http_requests_total", Self.labels("/v1/items", "HEAD", 200)) == 1)
      #expect(more("tidings_http_requests_total", Self.labels("/v1/items", "GET", 400)) == 1)
      #expect(more("tidings_http_requests_total", Self.labels("/metrics", "GET", 200)) == 1)
      #expect(more("tidings_http_request_duration_seconds_count", Self.labels("/v1/items/{id}")) == 4)
      #expect(more("tidings_http_request_duration_seconds_sum", Self.labels("/v1/items/{id}")) > 0)
    }
  }

  @Test("Clients cannot create series: unknown paths, other spellings and unrouted methods share one")
  func cardinality() async throws {
    try await TestServer.with { server in
      for (number, method) in ["PROPFIND", "LOCK", "MKCOL", "REPORT", "PURGE"].enumerated() {
        _ = try await server.get("/nowhere/\(number)")
        _ = try await server.send("GET", "/v1/items/\(number)")
        _ = try await server.send(method, "/v1/items")
        _ = try await server.send(method, "/nowhere/\(number)")
        _ = try await server.send("DELETE", "/v1/topics")
      }
      let scrape = try await server.scrape()
      #expect(scrape.value("tidings_http_requests_total", Self.labels("unknown", "GET", 404)) == 5)
      #expect(scrape.value("tidings_http_requests_total", Self.labels("unknown", "other", 405)) == 5)
      #expect(scrape.value("tidings_http_requests_total", Self.labels("unknown", "other", 404)) == 5)
      #expect(scrape.value("tidings_http_requests_total", Self.labels("unknown", "DELETE", 405)) == 5)
      #expect(scrape.values(of: "route") == ["unknown", "/v1/items/{id}"])
      #expect(scrape.values(of: "method") == ["GET", "DELETE", "other"])
    }
  }

  @Test("Malformed requests are counted by status as well")
  func refusals() async throws {
    try await TestServer.with { server in
      var bytes = 0
      for text in ["GET / HTTP/1.1\r\n\r\n", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
        let responses = try await RawConnection.exchange([Data(text.utf8)], port: server.port)
        bytes += responses.map(\.body.count).reduce(0, +)
      }
      let scrape = try await server.scrape()
      #expect(scrape.value("tidings_http_requests_total", Self.labels("unknown", "other", 400)) == 2)
      #expect(scrape.value("tidings_http_requests_total", Self.labels("unknown", "other", 501)) == 1)
      #expect(scrape.value("tidings_http_response_bytes_total", Self.labels("unknown", "other")) == Double(bytes))
    }
  }

  @Test("Bytes are counted as sent, and the bytes saved by a 304 or compression separately")
  func bytes() async throws {
    try await TestServer.with { server in
      _ = try await server.publish(String(repeating: "much the same ", count: 400))
      let plain = try await server.get("/v1/items", ("Accept-Encoding", "identity"))
      let compressed = try await server.get("/v1/items", ("Accept-Encoding", "gzip"))
      let tag = try #require(compressed["ETag"])
      for _ in 0..<2 {
        let again = try await server.get("/v1/items", ("If-None-Match", tag), ("Accept-Encoding", "gzip"))
        #expect(again.status == 304)
      }
      // A HEAD saves no bytes, because it has no body.
      _ = try await server.send("HEAD", "/v1/items", headers: [("If-None-Match", tag), ("Accept-Encoding", "gzip")])
      let scrape = try await server.scrape()
      let (long, short) = (Double(plain.body.count), Double(compressed.body.count))
      #expect(short < long)
      #expect(scrape.value("tidings_http_response_bytes_total", Self.labels("/v1/items")) == long + short)
      #expect(scrape.value("tidings_http_saved_bytes_total", ["by": "compression"]) == long - short)
      #expect(scrape.value("tidings_http_saved_bytes_total", ["by": "not_modified"]) == 2 * long)
      #expect(scrape.value("tidings_http_requests_total", Self.labels("/v1/items", "GET", 304)) == 2)
    }
  }

  @Test("The feed version, the connections and the process metrics are current")
  func gauges() async throws {
    try await TestServer.with { server in
      let before = try await server.scrape()
      #expect(before.value("tidings_feed_version") == 0)
      for text in ["a", "b", "c"] { _ = try await server.publish(text) }
      let after = try await server.scrape()
      #expect(after.value("tidings_feed_version") == 3)
      let connections = server.store.connections
      #expect(connections.idle + connections.leased > 0)
      #expect(after.value("tidings_database_connections_limit") == Double(connections.limit))
      #expect(1...Double(connections.opened) ~= after.value("tidings_database_connections_opened_total"))
      let states = ["idle", "leased"].map { after.value("tidings_database_connections", ["state": $0]) }
      #expect(states.reduce(0, +) >= 1)
      #expect(after.value("tidings_database_waiting") == 0)
      #expect(after.value("process_resident_memory_bytes") > 1_000_000)
      #expect(after.value("process_cpu_seconds_total") > 0)
      #expect(after.value("process_open_fds") > 3)
      #expect(after.kinds["tidings_http_request_duration_seconds"] == "histogram")
    }
  }

  @Test("Polls of feeds and requests to hubs are counted by their results, and feeds by their states")
  func feeds() async throws {
    try await TestServer.with { server in
      let (store, start) = (server.store, Date(timeIntervalSince1970: 2_000_000_000))
      var (changed, failed) = (PollOutcome(wait: 600), PollOutcome(wait: 600))
      (changed.entries.inserted, changed.entries.updated) = (5, 4)
      failed.failure = (status: 503, message: "busy")
      let unchanged = PollOutcome(wait: 600)
      let feeds: [(String, [PollOutcome])] = [
        ("a", [changed]), ("b", [unchanged]), ("c", [unchanged]), ("d", [failed, failed, failed]), ("e", []), ("f", []),
      ]
      for (name, outcomes) in feeds {
        let id = UUID()
        let content = SubscriptionContent(url: "https://\(name).example/", paused: outcomes.isEmpty)
        _ = try await store.createSubscription(id, content)
        for outcome in outcomes {
          let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: start))
          try await store.finishPoll(lease, outcome, at: start)
        }
      }
      try await store.countSubscriptions(at: start + 700)
      let requests: [(HubActivity.Mode, Bool, Int)] = [
        (.publish, true, 1), (.publish, false, 2), (.subscribe, true, 3), (.subscribe, false, 4),
        (.unsubscribe, true, 5),
      ]
      for (mode, isAccepted, count) in requests {
        for _ in 0..<count { store.hubActivity.note(mode, accepted: isAccepted) }
      }
      let scrape = try await server.scrape()
      for (result, count) in [("changed", 1.0), ("unchanged", 2.0), ("failed", 3.0)] {
        #expect(scrape.value("tidings_feed_polls_total", ["result": result]) == count, "\(result)")
      }
      for (state, count) in [("working", 3.0), ("failing", 1.0), ("paused", 2.0)] {
        #expect(scrape.value("tidings_feeds", ["state": state]) == count, "\(state)")
      }
      #expect(scrape.value("tidings_feed_entries_total", ["outcome": "inserted"]) == 5)
      #expect(scrape.value("tidings_feed_entries_total", ["outcome": "updated"]) == 4)
      #expect(scrape.value("tidings_feed_overdue_seconds") == 100)
      for (mode, isAccepted, count) in requests {
        let labels = ["mode": mode.rawValue, "outcome": isAccepted ? "accepted" : "failed"]
        #expect(scrape.value("tidings_hub_requests_total", labels) == Double(count), "\(labels)")
      }
    }
  }

  @Test("Reads are counted by the source of their content, and the caches and loads are described")
  func reads() async throws {
    try await TestServer.with { server in
      for number in 0..<3 { _ = try await server.publish("\(number)") }
      func count(_ source: String, _ scrape: PrometheusScrape) -> Double {
        scrape.value("tidings_reads_total", ["source": source])
      }
      let before = try await server.scrape()
      #expect(before.value("tidings_windows") == 1)
      #expect(before.value("tidings_cache_entries", ["cache": "fragments"]) >= 3)
      #expect(before.value("tidings_cache_bytes", ["cache": "fragments"]) > 300)
      // First reads come from the windows; repeated ones are kept.
      for _ in 0..<4 { #expect(try await server.get("/v1/items?limit=2").status == 200) }
      // A search is always a query, and is held meanwhile.
      #expect(try await server.get("/v1/items?q=old").status == 200)
      let after = try await server.scrape()
      #expect(count("windows", after) - count("windows", before) == 2)
      #expect(count("view", after) - count("view", before) == 2)
      #expect(count("database", after) - count("database", before) == 1)
      #expect(after.value("tidings_http_held_requests_total") - before.value("tidings_http_held_requests_total") == 1)
      #expect(after.value("tidings_cache_entries", ["cache": "views"]) == 1)
      #expect(after.value("tidings_cache_insertions_total", ["cache": "views"]) == 1)
      #expect(after.value("tidings_cache_evictions_total", ["cache": "views"]) == 0)
      #expect(after.value("tidings_loads") == 0)
      #expect(after.value("tidings_loads_waiting") == 0)
      #expect(after.value("tidings_loads_refused_total") == 0)
      #expect(after.value("tidings_compute_jobs_waiting") == 0)
      #expect(after.value("tidings_compute_jobs_refused_total") == 0)
    }
  }

  @Test("Metrics are served without the database, and eventually without a version")
  func withoutDatabase() async throws {
    try await TestServer.with(staleLimit: .milliseconds(100)) { server in
      await server.store.shutdown()
      try await eventually("there is no version") {
        try await server.scrape().kinds["tidings_feed_version"] == nil
      }
      let scrape = try await server.scrape()
      #expect(scrape.kinds["tidings_database_waiting"] == "gauge")
    }
  }

  @Test("Metrics must not be cached, and HEAD is GET without the body")
  func headers() async throws {
    try await TestServer.with { server in
      let (get, head) = (try await server.get("/metrics"), try await server.send("HEAD", "/metrics"))
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      for response in [get, head] {
        #expect(response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response["Cache-Control"] == "no-store")
      }
    }
  }
}

@Suite("Metrics of other parts of the process are included")
struct PrometheusRegistryTests {
  private func scrape(_ registry: PrometheusRegistry) throws -> PrometheusScrape {
    var text = PrometheusText()
    registry.write(to: &text)
    return try PrometheusScrape(text.text)
  }

  @Test("Names and labels with any characters are escaped for Prometheus")
  func escaping() throws {
    let registry = PrometheusRegistry(help: ["a_b": "What it is."])
    let value = "quotes \" and \\ and\nlines é \\n"
    Counter(label: "a.b", dimensions: [("x-y", value)], factory: registry).increment(by: 7)
    Counter(label: "0é", dimensions: [], factory: registry).increment()
    let scrape = try scrape(registry)
    #expect(scrape.samples.count == 2)
    #expect(scrape.value("a_b", ["x_y": value]) == 7)
    #expect(scrape.value("_0_") == 1)
  }

  @Test("Equal labels and dimensions give the same counter, and a destroyed counter disappears")
  func identity() throws {
    let registry = PrometheusRegistry(help: [:])
    for _ in 0..<2 { Counter(label: "c", dimensions: [("a", "1")], factory: registry).increment() }
    let other = Counter(label: "c", dimensions: [("a", "2")], factory: registry)
    other.increment(by: 5)
    #expect(try scrape(registry).value("c", ["a": "1"]) == 2)
    #expect(try scrape(registry).value("c", ["a": "2"]) == 5)
    other.destroy()
    #expect(try scrape(registry).samples.count == 1)
  }

  @Test("A label that is used with two kinds of metrics keeps the first kind")
  func conflict() throws {
    let registry = PrometheusRegistry(help: [:])
    Counter(label: "n", dimensions: [], factory: registry).increment()
    Gauge(label: "n", dimensions: [("a", "b")], factory: registry).record(9)
    let scrape = try scrape(registry)
    #expect(scrape.kinds == ["n": "counter"])
    #expect(scrape.samples.count == 1)
  }

  @Test("Durations fall into the bucket of the first bound that is not below them, and gauges have the last value")
  func histogram() throws {
    let registry = PrometheusRegistry(help: [:])
    let timer = Timer(label: "t", dimensions: [], factory: registry)
    for milliseconds in [0, 1, 2, 300, 60_000] { timer.recordMilliseconds(milliseconds) }
    let gauge = Gauge(label: "g", dimensions: [], factory: registry)
    for value in [2.5, -1.25] { gauge.record(value) }
    let scrape = try scrape(registry)
    #expect(scrape.value("t_bucket", ["le": "0.0005"]) == 1)
    #expect(scrape.value("t_bucket", ["le": "0.001"]) == 2)
    #expect(scrape.value("t_bucket", ["le": "0.25"]) == 3)
    #expect(scrape.value("t_bucket", ["le": "10"]) == 4)
    #expect(scrape.value("t_bucket", ["le": "+Inf"]) == 5)
    #expect(scrape.value("t_sum") == 60.303)
    #expect(scrape.value("g") == -1.25)
  }
}
