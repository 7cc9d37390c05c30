import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the list of subscriptions, and of its buttons.
struct SubscriptionListHandlers: ConsoleHandlers {
  let services: ConsoleServices

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let filter = try SubscriptionFilter(query: request.uri.query)
    let page = try await services.store.subscriptions(filter.query)
    var values = PageValues()
    values.set("newSubscription", pages.link(ConsolePath.newSubscription))
    setFilter(filter, page, in: &values)
    values.set(
      "subscriptions",
      page.subscriptions.map { pages.values(of: $0.subscription, failures: $0.failures, isListed: true) })
    values.set("isEmpty", page.subscriptions.isEmpty)
    values.set("hasSubscriptions", page.total > 0)
    pages.setPager(filter.page, hasMore: page.hasMore, path: filter.path, in: &values)
    return pages.page(
      "subscriptions", title: pages.texts.text("section-subscriptions"), for: visit, in: .subscriptions, values)
  }

  private func setFilter(_ filter: SubscriptionFilter, _ page: SubscriptionListPage, in values: inout PageValues) {
    values.set("listLink", pages.link(ConsolePath.subscriptions))
    values.set("healthName", filter.health?.rawValue)
    values.set("search", filter.search)
    values.set("unfiltered", filter.search == nil ? nil : pages.link(filter.pathWithoutSearch))
    values.set("view", filter.text)
    let healths: [SubscriptionQuery.Health?] = [nil, .failing, .paused]
    values.set(
      "tabs",
      healths.map { health -> PageValues in
        var values = PageValues()
        values.set("tabLink", pages.link(filter.path(health: health)))
        values.set("tabTitle", pages.texts.text(health?.rawValue ?? "state-all"))
        values.set("tabCount", health.map { page.counts[$0] ?? 0 } ?? page.total)
        values.set("isCurrentTab", health == filter.health)
        return values
      })
  }

  @Sendable func poll(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    _ = try await services.editorial.requestPoll(try context.resourceID("subscription"), context)
    return pages.redirect(to: SubscriptionFilter.path(returningTo: fields.first("view")), notice: .pollRequested)
  }

  @Sendable func pause(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let id = try context.resourceID("subscription")
    let isPaused = fields.first("paused") == "true"
    // Nothing else changes, so that any revision is accepted.
    _ = try await services.editorial.modifySubscription(
      id, ["paused": .bool(isPaused)], headers: [.ifMatch: "*"], context)
    return pages.redirect(
      to: SubscriptionFilter.path(returningTo: fields.first("view")),
      notice: isPaused ? .subscriptionPaused : .subscriptionResumed)
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
  /// - Parameters:
  ///   - failures: The number of polls that have failed since the last success.
  ///   - isListed: Whether long texts are shortened, because the page has many subscriptions.
  func values(of subscription: Subscription, failures: Int = 0, isListed: Bool = false) -> PageValues {
    func text(_ text: String, _ limit: Int) -> String { isListed ? Excerpt.of(text, limit: limit) : text }
    var values = PageValues()
    let id = subscription.id
    values.set("subscriptionName", text(subscription.title ?? subscription.url, 64))
    values.set("subscriptionURL", subscription.title == nil ? nil : text(subscription.url, 96))
    values.set("subscriptionLink", link(ConsolePath.path(ConsolePath.subscription, id: id)))
    values.set("pollLink", link(ConsolePath.path(ConsolePath.subscriptionPoll, id: id)))
    values.set("pauseLink", link(ConsolePath.path(ConsolePath.subscriptionPause, id: id)))
    values.set("removeLink", link(ConsolePath.path(ConsolePath.subscriptionRemoval, id: id)))
    values.set("isPaused", subscription.paused)
    let health = subscription.paused ? "paused" : subscription.lastError == nil ? "working" : "failing"
    values.set("health", health)
    values.set("healthTitle", texts.text(subscription.lastSuccess == nil && health == "working" ? "waiting" : health))
    values.set("newItemState", texts.text("state-\(subscription.state.rawValue)"))
    values.set("subscriptionTopics", text(subscription.topics.joined(separator: ", "), 64))
    let lastPoll = lastPoll(of: subscription)
    setTime("lastPoll", lastPoll, in: &values)
    if subscription.lastSuccess != lastPoll { setTime("lastSuccess", subscription.lastSuccess, in: &values) }
    setTime("nextPoll", subscription.nextPoll, in: &values)
    values.set("failureCount", failures > 0 ? failures : nil)
    if let error = subscription.lastError {
      values.set("failure", failureText(status: error.status))
      values.set("failureDetail", failureDetail(error.message, status: error.status).map { text($0, 120) })
    }
    if let losses = subscription.losses {
      values.set("lossCount", losses.count)
      setTime("loss", losses.at, in: &values)
      values.set("hasLossMessages", !isListed)
      values.set(
        "lossMessages",
        losses.messages.map { message -> PageValues in
          var values = PageValues()
          values.set("lossText", message)
          return values
        })
    }
    if let hub = subscription.websub {
      setHub(hub, in: &values)
      values.set("hub", text(hub.hub, 64))
      values.set("hubFailure", hub.error.map { text($0, 80) })
    }
    return values
  }

  private func lastPoll(of subscription: Subscription) -> Date? {
    [subscription.lastSuccess, subscription.lastError?.at].compactMap { $0 }.max()
  }

  private func setHub(_ hub: Subscription.WebSub, in values: inout PageValues) {
    values.set("hubState", texts.text("hub-\(hub.state.rawValue)"))
    setTime("hubEnd", hub.leaseEnds, in: &values)
    setTime("hubNotice", hub.lastNotice, in: &values)
  }

  /// Sets a time as `NAMETime` and `NAMEMachine`, unless it is nil.
  func setTime(_ name: String, _ date: Date?, in values: inout PageValues) {
    guard let shown = date.map(self.date) else { return }
    values.set("\(name)Time", shown.text)
    values.set("\(name)Machine", shown.machine)
  }
}
