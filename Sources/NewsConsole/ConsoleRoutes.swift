import Foundation
import HTTPTypes
import Hummingbird
import NewsAPI
import NewsStore

/// The paths of the console, as the router matches them.
enum ConsolePath {
  static let root = "/console"
  static let signIn = "/console/sign-in"
  static let link = "/console/link"
  static let signOut = "/console/sign-out"
  static let asset = "/console/assets/{name}"

  static let items = "/console/items"
  static let newItem = "/console/items/new"
  static let preview = "/console/items/preview"
  static let item = "/console/items/{id}"
  static let itemPreview = "/console/items/{id}/preview"
  static let history = "/console/items/{id}/history"
  static let restoration = "/console/items/{id}/history/{revision}/restore"
  static let retraction = "/console/items/{id}/retract"
  static let erasure = "/console/items/{id}/erase"
  static let alert = "/console/items/{id}/alert"

  static let files = "/console/files"
  static let file = "/console/files/{id}"

  static let topics = "/console/topics"
  // A topic may have the slug `new`.
  static let newTopic = "/console/new-topic"
  static let topic = "/console/topics/{slug}/edit"
  static let topicRemoval = "/console/topics/{slug}/remove"

  static let subscriptions = "/console/subscriptions"
  static let newSubscription = "/console/subscriptions/new"
  static let subscription = "/console/subscriptions/{id}"
  static let subscriptionPoll = "/console/subscriptions/{id}/poll"
  static let subscriptionPause = "/console/subscriptions/{id}/pause"
  static let subscriptionRemoval = "/console/subscriptions/{id}/remove"

  static let pushes = "/console/pushes"
  static let push = "/console/pushes/{id}"

  static let webhooks = "/console/webhooks"
  static let newWebhook = "/console/webhooks/new"
  static let webhook = "/console/webhooks/{id}"
  static let webhookForm = "/console/webhooks/{id}/edit"
  static let webhookPause = "/console/webhooks/{id}/pause"
  static let webhookTest = "/console/webhooks/{id}/test"
  static let webhookRotation = "/console/webhooks/{id}/rotate"
  static let webhookRemoval = "/console/webhooks/{id}/remove"
  static let webhookReplay = "/console/webhooks/{id}/deliveries/{delivery}/replay"

  static let keys = "/console/keys"
  static let newKey = "/console/keys/new"
  static let keyRotation = "/console/keys/{id}/rotate"
  static let keyRevocation = "/console/keys/{id}/revoke"

  static let firstRun = "/console/first-run"
  static let live = "/console/live"
  static let liveEvents = "/console/live/events"

  static let sessions = "/console/sessions"
  static let sessionEnd = "/console/sessions/{id}/end"

  /// Returns a path with its parameters.
  ///
  /// - Parameters:
  ///   - id: The value of `id`.
  ///   - revision: The value of `revision`, if the path has it.
  static func path(_ pattern: String, id: UUID, revision: Int? = nil) -> String {
    let path = pattern.replacing("{id}", with: id.uuidString.lowercased())
    return revision.map { path.replacing("{revision}", with: "\($0)") } ?? path
  }

  /// Returns the path of the form that sends an event of a webhook again.
  static func path(ofReplay delivery: UUID, of webhook: UUID) -> String {
    path(webhookReplay.replacing("{delivery}", with: delivery.uuidString.lowercased()), id: webhook)
  }

  /// Returns the path of a page of a topic.
  static func path(_ pattern: String, slug: String) -> String { pattern.replacing("{slug}", with: slug) }

  /// Returns the path of a page of a key.
  static func path(_ pattern: String, keyID: String) -> String { pattern.replacing("{id}", with: keyID) }

  /// Returns the path of a file that pages load.
  static func asset(named name: String) -> String { asset.replacing("{name}", with: name) }
}

/// Registers the method, path and handler of every route of the console.
struct ConsoleRoutes {
  let services: ConsoleServices

  func add(to router: Router<APIContext>) {
    let pages = ConsoleRouter(services: services, router: router)
    let signIn = SignInHandlers(services: services)
    pages.open(.get, ConsolePath.signIn, signIn.form)
    pages.open(.post, ConsolePath.signIn, signIn.signInWithKey)
    pages.open(.get, ConsolePath.link, signIn.linkForm)
    pages.open(.post, ConsolePath.link, signIn.signInWithLink)
    pages.action(ConsolePath.signOut, signIn.signOut)
    pages.open(.get, ConsolePath.asset, AssetHandlers(assets: services.pages.assets).asset)

    let firstRun = FirstRunHandlers(services: services)
    pages.page(ConsolePath.root, firstRun.start)
    pages.page(ConsolePath.firstRun, for: [.itemsWrite], firstRun.steps)
    let live = LiveHandlers(services: services)
    pages.page(ConsolePath.live, live.page)
    pages.page(ConsolePath.liveEvents, live.events)

    let list = ItemListHandlers(services: services)
    let editor = EditorHandlers(services: services)
    let previews = PreviewHandlers(services: services)
    let history = HistoryHandlers(services: services)
    let ends = ItemEndHandlers(services: services)
    pages.page(ConsolePath.items, for: [.itemsWrite], list.list)
    pages.page(ConsolePath.newItem, for: [.itemsWrite], editor.newItem)
    pages.upload(ConsolePath.items, for: [.itemsWrite], showAgain: editor.showAgain, editor.create)
    pages.page(ConsolePath.item, for: [.itemsWrite], editor.item)
    pages.upload(ConsolePath.item, for: [.itemsWrite], showAgain: editor.showAgain, editor.save)
    pages.upload(ConsolePath.preview, for: [.itemsWrite], previews.preview)
    pages.page(ConsolePath.itemPreview, for: [.itemsWrite], previews.savedPreview)
    pages.upload(ConsolePath.itemPreview, for: [.itemsWrite], previews.preview)
    pages.page(ConsolePath.history, for: [.itemsWrite], history.history)
    pages.action(ConsolePath.restoration, for: [.itemsWrite], history.restore)
    pages.page(ConsolePath.retraction, for: [.itemsWrite], ends.retractionForm)
    pages.action(ConsolePath.retraction, for: [.itemsWrite], ends.retract)
    pages.page(ConsolePath.erasure, for: [.itemsPublish], ends.erasureForm)
    pages.action(ConsolePath.erasure, for: [.itemsPublish], ends.erase)

    let files = FileHandlers(services: services)
    pages.page(ConsolePath.files, for: [.itemsWrite, .mediaWrite], files.list)
    pages.upload(ConsolePath.files, for: [.mediaWrite], files.upload)
    pages.page(ConsolePath.file, for: [.itemsWrite, .mediaWrite], files.file)

    addTopics(to: pages)
    addPushes(to: pages)
    addSubscriptions(to: pages)
    addWebhooks(to: pages)
    addKeys(to: pages)

    let sessions = SessionHandlers(services: services)
    pages.page(ConsolePath.sessions, sessions.list)
    pages.action(ConsolePath.sessionEnd, sessions.end)
  }

  private func addTopics(to pages: ConsoleRouter) {
    let topics = TopicListHandlers(services: services)
    let editor = TopicFormHandlers(services: services)
    let removal = TopicRemovalHandlers(services: services)
    pages.page(ConsolePath.topics, for: [.itemsWrite], topics.list)
    pages.page(ConsolePath.newTopic, for: [.itemsPublish], editor.newTopic)
    pages.action(ConsolePath.topics, for: [.itemsPublish], editor.create)
    pages.page(ConsolePath.topic, for: [.itemsPublish], editor.topic)
    pages.action(ConsolePath.topic, for: [.itemsPublish], editor.save)
    pages.page(ConsolePath.topicRemoval, for: [.itemsPublish], removal.form)
    pages.action(ConsolePath.topicRemoval, for: [.itemsPublish], removal.remove)
  }

  private func addSubscriptions(to pages: ConsoleRouter) {
    let subscriptions = SubscriptionListHandlers(services: services)
    let editor = SubscriptionFormHandlers(services: services)
    pages.page(ConsolePath.subscriptions, for: [.admin], subscriptions.list)
    pages.page(ConsolePath.newSubscription, for: [.admin], editor.newSubscription)
    pages.action(ConsolePath.subscriptions, for: [.admin], editor.create)
    pages.page(ConsolePath.subscription, for: [.admin], editor.subscription)
    pages.action(ConsolePath.subscription, for: [.admin], editor.save)
    pages.action(ConsolePath.subscriptionPoll, for: [.admin], subscriptions.poll)
    pages.action(ConsolePath.subscriptionPause, for: [.admin], subscriptions.pause)
    pages.page(ConsolePath.subscriptionRemoval, for: [.admin], subscriptions.removalForm)
    pages.action(ConsolePath.subscriptionRemoval, for: [.admin], subscriptions.remove)
  }

  private func addPushes(to pages: ConsoleRouter) {
    let pushes = PushHandlers(services: services)
    let alerts = AlertHandlers(services: services)
    pages.page(ConsolePath.pushes, for: [.pushSend], pushes.list)
    pages.page(ConsolePath.push, for: [.pushSend], pushes.push)
    pages.page(ConsolePath.alert, for: [.pushSend], alerts.form)
    pages.action(ConsolePath.alert, for: [.pushSend], alerts.request)
  }

  private func addWebhooks(to pages: ConsoleRouter) {
    let webhooks = WebhookListHandlers(services: services)
    let editor = WebhookFormHandlers(services: services)
    let log = WebhookLogHandlers(services: services)
    let secrets = WebhookSecretHandlers(services: services)
    pages.page(ConsolePath.webhooks, for: [.admin], webhooks.list)
    pages.page(ConsolePath.newWebhook, for: [.admin], editor.newWebhook)
    pages.action(ConsolePath.webhooks, for: [.admin], editor.create)
    pages.page(ConsolePath.webhook, for: [.admin], log.webhook)
    pages.page(ConsolePath.webhookForm, for: [.admin], editor.webhook)
    pages.action(ConsolePath.webhookForm, for: [.admin], editor.save)
    pages.action(ConsolePath.webhookPause, for: [.admin], webhooks.pause)
    pages.action(ConsolePath.webhookTest, for: [.admin], webhooks.test)
    pages.page(ConsolePath.webhookRotation, for: [.admin], secrets.rotationForm)
    pages.action(ConsolePath.webhookRotation, for: [.admin], secrets.rotate)
    pages.page(ConsolePath.webhookRemoval, for: [.admin], webhooks.removalForm)
    pages.action(ConsolePath.webhookRemoval, for: [.admin], webhooks.remove)
    pages.action(ConsolePath.webhookReplay, for: [.admin], log.replay)
  }

  private func addKeys(to pages: ConsoleRouter) {
    let keys = KeyListHandlers(services: services)
    let secrets = KeySecretHandlers(services: services)
    pages.page(ConsolePath.keys, for: [.admin], keys.list)
    pages.page(ConsolePath.newKey, for: [.admin], secrets.newKey)
    pages.action(ConsolePath.keys, for: [.admin], secrets.create)
    pages.page(ConsolePath.keyRotation, for: [.admin], secrets.rotationForm)
    pages.action(ConsolePath.keyRotation, for: [.admin], secrets.rotate)
    pages.page(ConsolePath.keyRevocation, for: [.admin], keys.revocationForm)
    pages.action(ConsolePath.keyRevocation, for: [.admin], keys.revoke)
  }
}
