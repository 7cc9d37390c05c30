import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsStore

/// The handler of `/metrics`, which Prometheus scrapes.
struct MetricsHandlers: Sendable {
  let store: NewsStore
  let metrics: APIMetrics
  let reads: PublicReads
  let polls: LongPolls
  let streams: EventStreams

  @Sendable func collect(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    var text = PrometheusText()
    metrics.registry.write(to: &text)
    text.add(
      "tidings_build_info", .gauge, help: "1, with the version of the server as a label.", by: "version",
      [TidingsVersion.current: 1])
    if let snapshot = store.cachedSnapshot {
      let version = snapshot.feedVersion.version
      text.add("tidings_feed_version", .gauge, help: "Version of the last change of the feed.", version)
      text.add(
        "tidings_windows", .gauge, help: "Scopes whose newest items are in memory.", snapshot.windows.count)
    }
    Self.write([("views", reads.viewUsage), ("fragments", store.fragments.usage)], to: &text)
    let loads = reads.loadUsage
    text.add("tidings_loads", .gauge, help: "Reads of the database that run for readers.", loads.running)
    text.add("tidings_loads_waiting", .gauge, help: "Readers that wait for another read to end.", loads.waiting)
    text.add(
      "tidings_loads_refused_total", .counter,
      help: "Readers that were refused because the queue was full, or the wait too long.", loads.refused)
    let computing = ComputePool.shared.usage
    text.add(
      "tidings_compute_jobs", .gauge, help: "Jobs that run on the threads for computing.", computing.running)
    text.add(
      "tidings_compute_jobs_waiting", .gauge, help: "Jobs that wait for a thread for computing.",
      computing.waiting)
    text.add(
      "tidings_compute_jobs_refused_total", .counter,
      help: "Jobs that were refused because their queue was full, or the wait too long.", computing.refused)
    text.add("tidings_waiting_requests", .gauge, help: "Requests that wait for changes.", polls.count)
    text.add("tidings_event_streams", .gauge, help: "Open streams of events.", streams.count)
    store.writes.write(to: &text)
    store.schedule.write(to: &text)
    store.polls.write(to: &text)
    store.hubActivity.write(to: &text)
    store.webhookActivity.write(to: &text)
    store.deliveryCounts().write(to: &text)
    store.connections.write(to: &text)
    store.replicaReads?.write(to: &text)
    if let lag = store.standbyLag {
      text.add(
        "tidings_standby_lag_seconds", .gauge, help: "Time for which the standby has lacked a change of the primary.",
        lag / .seconds(1))
    }
    let refused = "tidings_writes_refused"
    text.begin(refused, .gauge, help: "Whether the database accepts no writes, by the reason.")
    for obstacle in WriteObstacle.allCases {
      let labels = PrometheusText.labels([("reason", obstacle.rawValue)])
      text.add(refused, labels, store.writeObstacle == obstacle ? 1 : 0)
    }
    ProcessUsage()?.write(to: &text)
    return Response(
      status: .ok, headers: [.contentType: PrometheusText.contentType, .cacheControl: CachePolicy.notStored],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text.text)))
  }

  private static func write(_ caches: [(name: String, usage: CacheUsage?)], to text: inout PrometheusText) {
    let values: [(name: String, PrometheusText.Kind, help: String, value: (CacheUsage) -> Int)] = [
      ("tidings_cache_bytes", .gauge, "Approximate memory of the entries of a cache.", { $0.bytes }),
      ("tidings_cache_entries", .gauge, "Entries of a cache.", { $0.count }),
      ("tidings_cache_insertions_total", .counter, "Entries added to a cache.", { $0.insertions }),
      ("tidings_cache_evictions_total", .counter, "Entries evicted for others, within the budget.", { $0.evictions }),
    ]
    for (name, kind, help, value) in values {
      text.begin(name, kind, help: help)
      for case (let cache, let usage?) in caches {
        text.add(name, PrometheusText.labels([("cache", cache)]), Double(value(usage)))
      }
    }
  }
}

extension ReplicaReads {
  fileprivate func write(to text: inout PrometheusText) {
    text.add(
      "tidings_standby_reads_total", .counter,
      help: "Reads asked of a standby, by what became of them; all but used went to the primary.", by: "outcome",
      ["used": used, "behind": behind, "failed": failed])
  }
}

extension StoreWrites {
  fileprivate func write(to text: inout PrometheusText) {
    text.add("tidings_write_groups_total", .counter, help: "Transactions of several writes of items.", groups)
    text.add(
      "tidings_writes_total", .counter, help: "Writes of items, by whether they ran in a group or left it.",
      by: "run", ["group": grouped - alone, "alone": alone])
    text.add("tidings_writes_waiting", .gauge, help: "Writes of items that have not begun.", waiting)
    text.add(
      "tidings_writes_wait_seconds_total", .counter, help: "Sum of the waits of writes until they began.",
      waited / .seconds(1))
    text.add(
      "tidings_lost_commits_total", .counter, help: "Lost answers to COMMIT, by what became of the transaction.",
      by: "outcome",
      ["committed": lostCommits.committed, "undone": lostCommits.undone, "unknown": lostCommits.unknown])
  }
}

extension StoreSchedule {
  fileprivate func write(to text: inout PrometheusText) {
    text.add(
      "tidings_schedule_changes_total", .counter, help: "Items that this process has published or ended by schedule.",
      Double(changed))
    text.add(
      "tidings_schedule_stuck", .gauge, help: "Scheduled items that are due and have an unknown topic.", stuck)
    if let age {
      text.add(
        "tidings_schedule_age_seconds", .gauge, help: "Time since the schedule was last applied.", age / .seconds(1))
    }
  }
}

extension StorePolls {
  fileprivate func write(to text: inout PrometheusText) {
    text.add(
      "tidings_feed_polls_total", .counter, help: "Polls of external feeds, by result.", by: "result",
      ["changed": changed, "unchanged": unchanged, "failed": failed])
    text.add(
      "tidings_feed_entries_total", .counter, help: "Entries of external feeds that were stored.", by: "outcome",
      ["inserted": inserted, "updated": updated])
    text.add(
      "tidings_feeds", .gauge, help: "Subscriptions, by state; failing are those whose last three polls failed.",
      by: "state",
      ["working": subscriptions.working, "failing": subscriptions.failing, "paused": subscriptions.paused])
    text.add(
      "tidings_feed_overdue_seconds", .gauge, help: "Time for which the most delayed poll is overdue.",
      subscriptions.overdueSeconds)
  }
}

extension StoreConnections {
  fileprivate func write(to text: inout PrometheusText) {
    text.add(
      "tidings_database_connections", .gauge, help: "Connections to PostgreSQL that are open, by state.", by: "state",
      ["idle": idle, "leased": leased])
    text.add("tidings_database_connections_limit", .gauge, help: "The most connections there may be.", limit)
    text.add("tidings_database_waiting", .gauge, help: "Callers that wait for a connection.", waiting)
    text.add(
      "tidings_database_connections_opened_total", .counter, help: "Connections made since the start.", opened)
  }
}
