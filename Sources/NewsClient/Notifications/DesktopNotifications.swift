#if os(Linux)
  package import BackgroundFetch
  import Foundation
  import HTTPTransfer
  import News
  import Synchronization

  /// Shows notifications on the desktop: calls the service `org.freedesktop.Notifications` of the session bus
  /// (Desktop Notifications Specification 1.2) by `busctl`, which is part of systemd.
  ///
  /// The session bus is that of `DBUS_SESSION_BUS_ADDRESS`, or else `$XDG_RUNTIME_DIR/bus`.
  ///
  ///     let desktop = DesktopNotifications(name: "Harbour", desktopEntry: "example.harbour.Reader")
  ///     _ = try await desktop.present(NotificationRequest(identifier: "tide", title: "High water at 14:10"))
  public final class DesktopNotifications: NotificationPresenter {
    /// The error of a desktop that shows no notifications.
    ///
    ///     let request = NotificationRequest(identifier: "tide", title: "High water at 14:10")
    ///     do {
    ///       _ = try await DesktopNotifications(name: "Harbour").present(request)
    ///     } catch let error as DesktopNotifications.Failure {
    ///       print(error)  // there is no session bus; ...
    ///     }
    public struct Failure: Error, CustomStringConvertible {
      /// A sentence with the reason and what to do.
      public let description: String
    }

    /// The service that answers.
    private struct Service {
      /// The id of the bus, which differs after each login.
      var bus: String
      /// The unique name of the service, which differs after each start of it.
      var owner: String
      var understandsMarkup: Bool
      var hasActions: Bool
    }

    /// The time limit of a call.
    static let callLimit = Duration.seconds(5)
    /// The maximum length of a title, and that of a text, in characters.
    static let maximumTitleLength = 120
    static let maximumBodyLength = 1_000

    private static let silence = Failure(description: "the desktop's notification service does not answer")
    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    private let appName: String
    private let desktopEntry: String?
    /// The environment of `busctl`; nil for that of this process.
    private let givenEnvironment: [String: String]?
    private let clock: any FetchClock
    private let service = Mutex<Service?>(nil)

    /// Creates a presenter.
    ///
    /// - Parameters:
    ///   - name: The name of the app, which desktops show beside notifications.
    ///   - desktopEntry: The name of the app's `.desktop` file without the suffix, from which desktops take its icon; nil
    ///     for none.
    public convenience init(name: String, desktopEntry: String? = nil) {
      self.init(name: name, desktopEntry: desktopEntry, environment: nil)
    }

    package init(
      name: String, desktopEntry: String? = nil, environment: [String: String]?, clock: any FetchClock = SystemClock()
    ) {
      (appName, self.desktopEntry, givenEnvironment, self.clock) = (name, desktopEntry, environment, clock)
    }

    /// Shows a notification.
    ///
    /// - Returns: The handle of the notification; nil if the service has taken the call but does not answer.
    /// - Throws: ``Failure``
    public func present(_ request: NotificationRequest) async throws -> String? {
      try await withService { service in try await notify(request, replacing: 0, service) }
    }

    /// Replaces a notification, unless the service has been started again since.
    ///
    /// - Throws: ``Failure``
    public func replace(_ handle: String, with request: NotificationRequest) async throws -> String? {
      try await withService { service in
        guard let number = Self.number(handle, service) else { return nil }
        // A replacement keeps its number, also if the service has taken the call but does not answer.
        return try await notify(request, replacing: number, service) ?? handle
      }
    }

    /// Closes a notification.
    ///
    /// - Throws: ``Failure``
    public func withdraw(_ handle: String) async throws {
      // A service that has ended must not be taken for one that has closed the notification.
      service.withLock { $0 = nil }
      try await withService { service in
        guard let number = Self.number(handle, service) else { return }
        do {
          _ = try await call(service.owner, Self.path, Self.name, "CloseNotification", ["u", "\(number)"])
        } catch is TimeLimitExceeded {
          throw Self.silence
        } catch is Failure {
          // The service answers with an error if the notification is closed (Desktop Notifications Specification 1.2).
        }
      }
    }

    private func notify(_ request: NotificationRequest, replacing number: UInt32, _ service: Service) async throws
      -> String?
    {
      let body = request.body.lines(limit: Self.maximumBodyLength)
      var hints = [["urgency", "y", "\(request.urgency.level)"]]
      if let desktopEntry { hints.append(["desktop-entry", "s", desktopEntry]) }
      if let category = request.category { hints.append(["category", "s", category.terminalSafe]) }
      let actions = [NotificationRequest.Action(identifier: NotificationActivation.defaultAction, title: "Open")]
      let words =
        service.hasActions ? (actions + request.actions).flatMap { [$0.identifier, $0.title.terminalSafe] } : []
      let arguments =
        [
          "susssasa{sv}i", appName, "\(number)", "", request.title.onOneLine(Self.maximumTitleLength),
          service.understandsMarkup ? body.escapedMarkup : body,
        ] + ["\(words.count)"] + words + ["\(hints.count)"] + hints.joined() + ["-1"]
      do {
        let answer = try await call(service.owner, Self.path, Self.name, "Notify", arguments)
        guard let number = answer.first?.number else { return nil }
        return "\(service.bus) \(service.owner) \(number)"
      } catch is TimeLimitExceeded {
        // The call is in the queue of the service. A second one would show the notification twice.
        return nil
      }
    }

    /// Returns the taps on notifications of any process from now on, as the bus signals them. The stream ends without a bus.
    public func taps() -> AsyncStream<NotificationTap> {
      AsyncStream { continuation in
        let task = Task {
          try? await followTaps { continuation.yield($0) }
          continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
      }
    }

    private func followTaps(_ body: (NotificationTap) -> Void) async throws {
      try checkBus()
      guard let busctl else { return }
      let daemon = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
      guard let bus = try await call(daemon.0, daemon.1, daemon.0, "GetId").first?.text else { return }
      let words = ["--user", "--json=short", "--match=type='signal',interface='\(Self.name)'", "monitor"]
      let monitor = ChildProgram(executable: busctl, arguments: words, environment: environment)
      // The token precedes the action to which it belongs.
      var token: (number: UInt32, text: String)?
      for await line in try monitor.lines() {
        guard let signal = try? JSONDecoder().decode(BusSignal.self, from: Data(line.utf8)),
          let number = signal.payload.data.first?.number, let text = signal.payload.data.last?.text
        else { continue }
        switch signal.member {
        case "ActivationToken": token = (number, text)
        case "ActionInvoked":
          body(
            NotificationTap(
              handle: "\(bus) \(signal.sender) \(number)", action: text,
              token: token?.number == number ? token?.text : nil))
          token = nil
        default: break
        }
      }
    }

    /// Returns the service's number of a notification; nil if another run of the service has shown it.
    private static func number(_ handle: String, _ service: Service) -> UInt32? {
      let parts = handle.split(separator: " ")
      guard parts.count == 3, parts[0] == service.bus, parts[1] == service.owner else { return nil }
      return UInt32(parts[2])
    }

    /// Runs the body with the service. If the service has been started again, it is asked anew.
    private func withService<Value>(_ body: (Service) async throws -> Value) async throws -> Value {
      if let known = service.withLock(\.self) {
        do { return try await body(known) } catch is Failure { service.withLock { $0 = nil } }
      }
      let found: Service
      do {
        found = try await connect()
      } catch is TimeLimitExceeded {
        throw Self.silence
      }
      service.withLock { $0 = found }
      return try await body(found)
    }

    /// Asks the bus for the service, which the first call starts if it can be started.
    private func connect() async throws -> Service {
      try checkBus()
      let capabilities = try await call(Self.name, Self.path, Self.name, "GetCapabilities").first?.texts ?? []
      let bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
      let owner = try await call(bus.0, bus.1, bus.0, "GetNameOwner", ["s", Self.name]).first?.text
      let id = try await call(bus.0, bus.1, bus.0, "GetId").first?.text
      guard let owner, let id else {
        throw Failure(description: "the session bus has sent an answer that cannot be read")
      }
      return Service(
        bus: id, owner: owner, understandsMarkup: capabilities.contains("body-markup"),
        hasActions: capabilities.contains("actions"))
    }

    private func checkBus() throws {
      if environment["DBUS_SESSION_BUS_ADDRESS"]?.isEmpty == false { return }
      let socket = environment["XDG_RUNTIME_DIR"].map { $0 + "/bus" }
      if let socket, FileManager.default.fileExists(atPath: socket) { return }
      throw Failure(
        description: """
          there is no session bus, which desktop notifications need: DBUS_SESSION_BUS_ADDRESS is not set, and \
          XDG_RUNTIME_DIR has none
          """)
    }

    /// Calls a method of a service.
    ///
    /// - Parameter arguments: The signature and the arguments, as `busctl call` takes them.
    /// - Returns: The values of the reply.
    /// - Throws: `Failure`, `TimeLimitExceeded`.
    private func call(
      _ destination: String, _ path: String, _ interface: String, _ method: String, _ arguments: [String] = []
    ) async throws -> [BusValue] {
      guard let busctl else {
        throw Failure(description: "desktop notifications need busctl, a program of systemd, which is not in PATH")
      }
      // After the two dashes nothing is taken for an option, such as a title that begins with one.
      let words = ["--user", "--json=short", "call", "--", destination, path, interface, method] + arguments
      let program = ChildProgram(executable: busctl, arguments: words, environment: environment, readsOutput: true)
      let outcome: ChildProgram.Outcome
      do {
        outcome = try await program.run(within: Self.callLimit, clock: clock)
      } catch let failure as ChildProgram.Failure {
        throw Failure(description: failure.description)
      }
      switch outcome.end {
      case .exited(0): return (try? JSONDecoder().decode(BusReply.self, from: outcome.output))?.data ?? []
      case .exceededTimeLimit: throw TimeLimitExceeded(limit: Self.callLimit)
      case .exited, .killed:
        let reason = outcome.errors.onOneLine(200).trimmingCharacters(in: .whitespaces)
        throw Failure(description: "the desktop shows no notifications: \(reason)")
      }
    }

    private var environment: [String: String] { givenEnvironment ?? ProcessInfo.processInfo.environment }

    /// The path of busctl.
    private var busctl: String? {
      (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/busctl" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
  }

  /// The reply to a method, as busctl prints it.
  private struct BusReply: Decodable {
    var data: [BusValue]
  }

  /// A signal, as busctl prints it.
  private struct BusSignal: Decodable {
    struct Payload: Decodable {
      var data: [BusValue]
    }

    var sender: String
    var member: String
    var payload: Payload
  }

  /// A value of a reply: a number, a text or an array of texts.
  private struct BusValue: Decodable {
    var number: UInt32?
    var text: String?
    var texts: [String]?

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      number = try? container.decode(UInt32.self)
      text = try? container.decode(String.self)
      texts = try? container.decode([String].self)
    }
  }

  extension NotificationRequest.Urgency {
    /// The level in the hint `urgency`.
    fileprivate var level: Int {
      switch self {
      case .low: 0
      case .normal: 1
      case .critical: 2
      }
    }
  }

  extension String {
    /// The text with the characters escaped that begin markup.
    fileprivate var escapedMarkup: String {
      // Characters would hide those with combining marks.
      unicodeScalars.reduce(into: "") { text, scalar in
        switch scalar {
        case "&": text += "&amp;"
        case "<": text += "&lt;"
        case ">": text += "&gt;"
        default: text.unicodeScalars.append(scalar)
        }
      }
    }

    /// Returns the lines without other control characters, with at most the given number of characters.
    fileprivate func lines(limit: Int) -> String {
      // A character may consist of any number of scalars.
      let text = String(unicodeScalars.prefix(limit * 8))
      let safe = text.split(whereSeparator: \.isNewline).map { String($0).terminalSafe }.joined(separator: "\n")
      return safe.count > limit ? safe.prefix(limit - 1) + "…" : safe
    }
  }
#endif
