import HTTPEdge
import NewsStore

extension WebhookActivity {
  func write(to text: inout PrometheusText) {
    let requests = "tidings_webhook_attempts_total"
    text.begin(requests, .counter, help: "Requests to webhooks, by whether the receiver has accepted the event.")
    let (delivered, failed) = attempts
    for (outcome, count) in [("delivered", delivered), ("failed", failed)] {
      text.add(requests, PrometheusText.labels([("outcome", outcome)]), Double(count))
    }
    let counts = counts
    text.begin(
      "tidings_webhooks", .gauge, help: "Webhooks, by state; failing are those whose last request has failed.")
    for (state, count) in [("working", counts.working), ("failing", counts.failing), ("paused", counts.paused)] {
      text.add("tidings_webhooks", PrometheusText.labels([("state", state)]), Double(count))
    }
    text.add(
      "tidings_webhook_deliveries_due", .gauge, help: "Events with an attempt to come, in all processes.",
      Double(counts.due))
    text.add(
      "tidings_webhook_overdue_seconds", .gauge, help: "Time for which the most delayed event is overdue.",
      counts.overdueSeconds)
  }
}
