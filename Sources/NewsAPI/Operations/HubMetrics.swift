import HTTPEdge
import NewsStore

extension HubActivity {
  func write(to text: inout PrometheusText) {
    let requests = "tidings_hub_requests_total"
    text.begin(requests, .counter, help: "Requests to WebSub hubs, by purpose and by what became of them.")
    for mode in Mode.allCases {
      for (outcome, isAccepted) in [("accepted", true), ("failed", false)] {
        let labels = PrometheusText.labels([("mode", mode.rawValue), ("outcome", outcome)])
        text.add(requests, labels, Double(count(of: mode, accepted: isAccepted)))
      }
    }
    let notices = notices
    text.add(
      "tidings_hub_notices_total", .counter, help: "Notices of WebSub hubs, by whether their signature was valid.",
      by: "outcome", ["valid": notices.valid, "ignored": notices.ignored])
    text.add(
      "tidings_hub_announcement_failures", .gauge,
      help: "Failed announcements to the WebSub hub since the last success.", announcementFailures)
  }
}
