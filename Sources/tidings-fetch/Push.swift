import ArgumentParser
import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import NewsClient

struct Push: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Registers this device for pushes of the server, and receives them.",
    discussion: """
      A push says that the server has news, so that they need not be polled. At most three an hour wake the client. Those \
      above are made up for by the next wake that the schedule allows, which needs an interval other than never.
      """,
    subcommands: [Status.self, Offer.self, Register.self, Receive.self, Remove.self], defaultSubcommand: Status.self)

  struct Status: JSONReportingCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the registration, without its secrets.")

    @ParentCommand var parent: TidingsFetch

    @Flag(help: "Prints the registration as one line of JSON.")
    var json = false

    func run() async throws {
      let client = try parent.client()
      let status = PushStatus(client.device, try client.schedule, at: SystemClock().now)
      if json { try printJSON(status) } else { for line in status.lines { try Output.print(line) } }
    }
  }

  struct Offer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the push services of the server, and its key for Web Push.",
      discussion: "Distributors of UnifiedPush want the key (VAPID) when an app asks them for an endpoint.")

    @ParentCommand var parent: TidingsFetch

    @Option(help: CommandTimeout.help) var timeout = CommandTimeout()

    func run() async throws {
      let offer = try await parent.client(timeout: timeout).pushOffer()
      let names = offer.providers.map(\.rawValue)
      try Output.print("providers \(names.isEmpty ? "none" : names.joined(separator: ", "))")
      if let key = offer.webPush?.publicKey { try Output.print("key       \(key.terminalSafe)") }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ends pushes for this device, and deletes its address at the server.",
      discussion: "If the server cannot be reached, the exit status is 20, and the next wake tries again.")

    @ParentCommand var parent: TidingsFetch

    @Option(help: CommandTimeout.help) var timeout = CommandTimeout()

    func run() async throws { try await parent.client(timeout: timeout).removeDevice() }
  }

  struct Receive: JSONReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Handles a push, whose payload is read from standard input.",
      discussion: """
        The running app of the store, such as watch, handles the push; one that is not running is launched if that was \
        allowed with tidings-fetch app set. Otherwise this command fetches the news. The payload is that of APNs, the data of \
        FCM, or the message of Web Push in JSON; with --encrypted, the message as a distributor of UnifiedPush passes it on. \
        The exit status is 0 for new data, 10 for none, and 20 for a failure, such as a payload that does not end within 10 s.
        """)

    @ParentCommand var parent: TidingsFetch

    /// The maximum time until the end of the input.
    private static let inputTimeout = Duration.seconds(10)

    @Flag(help: "Decrypts the message with the keys of push register --endpoint (RFC 8291).")
    var encrypted = false

    @Flag(help: "Prints the result as one line of JSON.")
    var json = false

    @OptionGroup var options: FetchOptions

    func run() async throws {
      let wake = SystemClock().now
      let settings = try parent.settings(options.texts)
      let client = try parent.client(settings, launchReason: .push)
      await client.application.launch()
      let input = try readInput(
        maximumBytes: RemoteNotification.maximumPayloadBytes, within: Self.inputTimeout)
      let payload = try decrypted(input, client)
      let downloads = parent.downloads(settings, client)
      let alerts = client.showAlerts()
      let report = await client.deliver(payload, wake: wake)
      parent.startWorkerIfNeeded(settings)
      _ = await client.application.suspend()
      withExtendedLifetime((downloads, alerts)) {}
      do {
        Output.logFailure(report, json: json)
        if json { try printJSON(report) } else { try Output.print("\(report.result.rawValue): \(report.outcome)") }
      } catch let failure as Output.Failure where failure.isClosedPipe {
        // The exit status reports the result even without a reader.
      }
      throw report.result.exitCode
    }

    private func decrypted(_ input: Data, _ client: NewsFetcher) throws -> Data {
      guard encrypted else { return input }
      do { return try client.decrypt(input) } catch let failure as WebPushReceiver.Failure {
        throw FetchError(.unexpectedResponse, "cannot decrypt the push: \(failure)")
      }
    }

    static func failure(_ message: String) -> any Encodable { Fetch.failure(message) }
  }
}

/// The printed form of the registration.
struct PushStatus: Encodable {
  var provider: String?
  var server: String?
  var topics: [String]?
  var alerts: Bool?
  var id: String?
  var renewed: Date?
  var expires: Date?
  var isConfirmed: Bool?
  /// The time at which pushes above the limit are made up for; nil if none is pending.
  var pending: Date?

  init(_ device: RegisteredDevice?, _ schedule: FetchScheduler, at now: FetchInstant) {
    pending = schedule.interval == .never ? nil : schedule.pushDelay(at: now).map { now.date + $0.inSeconds }
    guard let device else { return }
    (provider, server) = (device.provider.rawValue, device.server.absoluteString)
    (topics, alerts) = (device.topics, device.alerts)
    id = device.id?.uuidString.lowercased()
    (renewed, expires, isConfirmed) = (device.renewed, device.expires, device.isConfirmed)
  }

  /// The lines for people.
  var lines: [String] {
    let pendingLine = pending.map { "pending   a push, made up for at \(localTime($0))" }
    guard let provider, let server, let topics else {
      // push receive handles pushes without a registration too.
      return ["provider  none: this device is not registered"] + [pendingLine].compactMap(\.self)
    }
    let end = expires.map { ", ends \(localTime($0)) without a renewal" }
    let state = isConfirmed == true ? "active" : "waiting for the first push"
    return [
      "provider  \(provider)", "server    \(server)",
      "topics    \(topics.isEmpty ? "all" : topics.joined(separator: ", "))",
      "alerts    \(alerts == true ? "on" : "off")", renewed.map { "renewed   \(localTime($0))" + (end ?? "") },
      "state     \(renewed == nil ? "the server has not accepted the registration yet" : state)", pendingLine,
    ].compactMap(\.self)
  }
}

extension NewsFetcher {
  /// Shows the alerts of pushes while the returned observation is kept, if the user wants notifications. The notification of
  /// an item that is stored has been raised by its fetch.
  func showAlerts() -> ObservationToken {
    remoteNotifications.add { [weak self] push in
      guard let self, let alert = push.alert, notifications.options.showsNews else { return }
      if let id = push.contentID, (try? item(id)) ?? nil != nil { return }
      // The fetch of the item does not raise the same notification again, and replaces or withdraws this one.
      let identifier =
        push.contentID.map(NewsNotification.identifier)
        ?? "push-" + (push.id ?? UUID()).uuidString.lowercased()
      let title = alert.title.isEmpty ? alert.body : alert.title
      let request = NotificationRequest(
        identifier: identifier, title: title, body: alert.title.isEmpty ? "" : alert.body,
        urgency: alert.isBreaking ? .critical : .normal, category: "x-tidings.news")
      let task = application.backgroundTasks.begin("alert")
      Task {
        do { try await notifications.add(request) } catch { Output.log("cannot show the alert: \(error)") }
        application.backgroundTasks.end(task)
      }
    }
  }
}

/// Reads standard input to its end.
///
/// - Parameter timeout: The maximum time until the end; nil for no limit, such as for a person who types.
/// - Throws: `ValidationError` if there is more than the maximum; ``FetchError`` at the timeout, or if it cannot be read.
func readInput(maximumBytes: Int, within timeout: Duration? = nil) throws -> Data {
  let end = timeout.map { ContinuousClock.now + $0 }
  var data = Data()
  var buffer = [UInt8](repeating: 0, count: 4096)
  while true {
    if let end, let timeout, !isInputReady(until: end) {
      throw FetchError(.unexpectedResponse, "the input has not ended within \(roundedTime(timeout / .seconds(1)))")
    }
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else { throw FetchError(.storage, "cannot read the input: \(String(cString: strerror(errno)))") }
    if count == 0 { return data }
    data += buffer.prefix(count)
    if data.count > maximumBytes { throw ValidationError("The input has more than \(maximumBytes) bytes") }
  }
}

/// Returns the value of an argument that may be secret, which standard input has for `-`.
func secret(_ argument: String) throws -> String {
  guard argument == "-" else { return argument }
  return String(decoding: try readInput(maximumBytes: 8192), as: UTF8.self)
    .trimmingCharacters(in: .whitespacesAndNewlines)
}

/// Waits until standard input has data or has ended.
///
/// - Returns: Whether that is so before the time is over.
private func isInputReady(until end: ContinuousClock.Instant) -> Bool {
  var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
  while true {
    let left = (end - .now) / .milliseconds(1)
    guard left > 0 else { return false }
    let count = poll(&entry, 1, Int32(left.rounded(.up)))
    if count > 0 { return true }
    if count < 0, errno != EINTR { return true }
  }
}
