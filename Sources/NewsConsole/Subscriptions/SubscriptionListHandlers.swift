import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the list of subscriptions, and of its buttons.
struct SubscriptionListHandlers: Sendable {
  let services: ConsoleServices

  private var pages: ConsolePages { services.pages }

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var parameters = QueryParameters(request.uri.query, known: [Notice.parameter])
    let notice = parameters.value(Notice.parameter, rule: "must be a notice") { Notice(rawValue: $0) }
    try parameters.check()
    let subscriptions = try await services.store.subscriptions()
    let failures = try await services.store.failedPolls()
    var values = PageValues()
    values.set("notice", notice.map { pages.texts.text($0.textKey) })
    values.set("newSubscription", pages.link(ConsolePath.newSubscription))
    values.set("subscriptions", subscriptions.map { pages.values(of: $0, failures: failures[$0.id] ?? 0) })
    values.set("isEmpty", subscriptions.isEmpty)
    return pages.page(
      "subscriptions", title: pages.texts.text("section-subscriptions"), for: visit, in: .subscriptions, values)
  }

  @Sendable func poll(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    _ = try await services.editorial.requestPoll(try context.resourceID("subscription"), context)
    return pages.redirect(to: ConsolePath.subscriptions, notice: .pollRequested)
  }

  @Sendable func pause(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("subscription")
    let isPaused = fields.first("paused") == "true"
    // Nothing else changes, so that any revision is accepted.
    _ = try await services.editorial.modifySubscription(
      id, ["paused": .bool(isPaused)], headers: [.ifMatch: "*"], context)
    return pages.redirect(
      to: ConsolePath.subscriptions, notice: isPaused ? .subscriptionPaused : .subscriptionResumed)
  }

  @Sendable func removalForm(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    removal(try await services.store.subscription(try context.resourceID("subscription")), visit)
  }

  @Sendable func remove(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("subscription")
    do {
      guard let revision = fields.first("revision").flatMap({ Int($0) }) else { throw StoreError.preconditionFailed }
      try await services.editorial.removeSubscription(id, if: .revisions([revision]), context)
      return pages.redirect(to: ConsolePath.subscriptions, notice: .subscriptionRemoved)
    } catch StoreError.preconditionFailed {
      return removal(try await services.store.subscription(id), visit, hasChanged: true)
    }
  }

  private func removal(_ subscription: Subscription, _ visit: ConsoleVisit, hasChanged: Bool = false) -> Response {
    var values = pages.values(of: subscription)
    values.set("action", pages.link(ConsolePath.path(ConsolePath.subscriptionRemoval, id: subscription.id)))
    values.set("cancel", pages.link(ConsolePath.subscriptions))
    values.set("revision", subscription.revision)
    values.set("problem", hasChanged ? pages.texts.text("subscription-removal-changed") : nil)
    return pages.page(
      "subscriptions-remove", title: pages.texts.text("subscription-removal-title"),
      status: hasChanged ? .preconditionFailed : .ok, for: visit, in: .subscriptions, values)
  }
}

extension ConsolePages {
  /// Returns the values of a subscription: its facts and its health.
  ///
  /// - Parameter failures: The number of polls that have failed since the last success.
  func values(of subscription: Subscription, failures: Int = 0) -> PageValues {
    var values = PageValues()
    let id = subscription.id
    values.set("subscriptionName", subscription.title ?? subscription.url)
    values.set("subscriptionURL", subscription.title == nil ? nil : subscription.url)
    values.set("subscriptionLink", link(ConsolePath.path(ConsolePath.subscription, id: id)))
    values.set("pollLink", link(ConsolePath.path(ConsolePath.subscriptionPoll, id: id)))
    values.set("pauseLink", link(ConsolePath.path(ConsolePath.subscriptionPause, id: id)))
    values.set("removeLink", link(ConsolePath.path(ConsolePath.subscriptionRemoval, id: id)))
    values.set("isPaused", subscription.paused)
    let health = subscription.paused ? "paused" : subscription.lastError == nil ? "working" : "failing"
    values.set("health", health)
    values.set("healthTitle", texts.text(subscription.lastSuccess == nil && health == "working" ? "waiting" : health))
    values.set("newItemState", texts.text("state-\(subscription.state.rawValue)"))
    values.set("subscriptionTopics", subscription.topics.joined(separator: ", "))
    setTime("lastPoll", lastPoll(of: subscription), in: &values)
    setTime("lastSuccess", subscription.lastSuccess, in: &values)
    setTime("nextPoll", subscription.nextPoll, in: &values)
    values.set("failureCount", failures > 0 ? failures : nil)
    values.set("failure", subscription.lastError?.message)
    if let hub = subscription.websub { setHub(hub, in: &values) }
    return values
  }

  private func lastPoll(of subscription: Subscription) -> Date? {
    [subscription.lastSuccess, subscription.lastError?.at].compactMap { $0 }.max()
  }

  private func setHub(_ hub: Subscription.WebSub, in values: inout PageValues) {
    values.set("hub", hub.hub)
    values.set("hubState", texts.text("hub-\(hub.state.rawValue)"))
    setTime("hubEnd", hub.leaseEnds, in: &values)
    setTime("hubNotice", hub.lastNotice, in: &values)
    values.set("hubFailure", hub.error)
  }

  /// Sets a time as `NAMETime` and `NAMEMachine`, unless it is nil.
  func setTime(_ name: String, _ date: Date?, in values: inout PageValues) {
    guard let shown = date.map(self.date) else { return }
    values.set("\(name)Time", shown.text)
    values.set("\(name)Machine", shown.machine)
  }
}
