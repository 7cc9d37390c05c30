import HTTPEdge
import NewsStore

extension WebhookActivity {
  func write(to text: inout PrometheusText) {
    let (delivered, failed) = attempts
    text.add(
      "tidings_webhook_attempts_total", .counter,
      help: "Requests to webhooks, by whether the receiver has accepted the event.", by: "outcome",
      ["delivered": delivered, "failed": failed])
    let counts = counts
    text.add(
      "tidings_webhooks", .gauge, help: "Webhooks, by state; failing are those whose last request has failed.",
      by: "state", ["working": counts.working, "failing": counts.failing, "paused": counts.paused])
    text.add(
      "tidings_webhook_deliveries_due", .gauge, help: "Events with an attempt to come, in all processes.", counts.due)
    text.add(
      "tidings_webhook_overdue_seconds", .gauge, help: "Time for which the most delayed event is overdue.",
      counts.overdueSeconds)
  }
}
