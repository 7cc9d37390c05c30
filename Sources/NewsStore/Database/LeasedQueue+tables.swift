import BackgroundWork

extension LeasedQueue {
  /// The feeds that are followed, due for a poll.
  static let polls = LeasedQueue("subscriptions", as: "s", key: "id", due: "next_poll")
  /// The leases at the hubs of these feeds, due for a request.
  static let hubRequests = LeasedQueue("hub_leases", as: "l", key: "token", due: "next_request")
  /// The hubs to which feeds of this installation are announced.
  static let announcements = LeasedQueue("announcing_hubs", as: "h", key: "hub", due: "next_request")
  /// The events for webhooks.
  static let webhooks = LeasedQueue("webhook_deliveries", as: "d", key: "id", due: "due_at", until: "due_at")
  /// The devices that are owed a silent message.
  static let messages = LeasedQueue("deliveries", as: "o", key: "device", due: "due_at", until: "due_at")
  /// The alerts for devices. The key is that of the device; the push distinguishes its rows.
  static let alerts = LeasedQueue("alert_deliveries", as: "a", key: "device", due: "due_at", until: "due_at")
}
