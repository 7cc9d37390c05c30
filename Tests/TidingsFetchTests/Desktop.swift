import BackgroundFetch
import Foundation
import NewsClient
import TestKit
import TestSupport
import Testing

/// A session bus of its own with a service that records notifications.
struct Desktop: Sendable {
  /// The kind of the service.
  enum Kind: String {
    case plain = "body"
    case markup = "body,body-markup,actions"
    /// Has closed each notification before it is withdrawn.
    case closing = "body,closing"
    /// Its user taps each notification.
    case tapping = "body,actions,tapping"
    /// As before, but the token that precedes the tap is one for another notification.
    case tappingElsewhere = "body,actions,tapping,elsewhere"
    /// Takes notifications, but never answers.
    case silent = "body,silent"
    /// Never answers to a replacement.
    case silentLater = "body,silent,later"
    /// Takes calls, but never answers.
    case hanging = "hang"
  }

  /// A call of the service.
  struct Call: Decodable, Equatable {
    var method: String
    var id: Int
    var app = ""
    var replaces = 0
    var summary = ""
    var body = ""
    var hints: [String: String] = [:]
    var actions: [String] = []
    var timeout = 0
  }

  private static let python = "/usr/bin/python3"

  /// Whether the bus, the program that calls it and the libraries of the service are installed.
  static let isInstalled =
    program("dbus-daemon") != nil && program("busctl") != nil && FileManager.default.isExecutableFile(atPath: python)
    && ["dbus", "gi"].allSatisfy { FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/\($0)") }

  private static let service = """
    import dbus, dbus.service, json, sys, time
    from dbus.mainloop.glib import DBusGMainLoop
    from gi.repository import GLib
    kind, path = sys.argv[1:3]
    name = 'org.freedesktop.Notifications'
    def note(**call):
        with open(path, 'a') as file: file.write(json.dumps(call) + '\\n')
    class Service(dbus.service.Object):
        last = 0
        @dbus.service.method(name, in_signature='', out_signature='as')
        def GetCapabilities(self):
            note(method='GetCapabilities', id=0, app='', replaces=0, summary='', body='', hints={}, actions=[],
                 timeout=0)
            if kind == 'hang': time.sleep(3600)
            return kind.split(',')
        @dbus.service.method(name, in_signature='susssasa{sv}i', out_signature='u')
        def Notify(self, app, replaces, icon, summary, body, actions, hints, timeout):
            Service.last += 0 if replaces else 1
            number = int(replaces or Service.last)
            if 'tapping' in kind: GLib.timeout_add(300, Service.tap, self, number, list(actions)[0])
            note(method='Notify', id=number, app=app, replaces=int(replaces), summary=summary, body=body,
                 hints={key: str(int(value) if key == 'urgency' else value) for key, value in hints.items()},
                 actions=list(actions), timeout=int(timeout))
            if 'silent' in kind and (replaces or 'later' not in kind): time.sleep(3600)
            return dbus.UInt32(number)
        @dbus.service.signal(name, signature='us')
        def ActivationToken(self, number, token): pass
        @dbus.service.signal(name, signature='us')
        def ActionInvoked(self, number, action): pass
        def tap(self, number, action):
            self.ActivationToken(number + (1 if 'elsewhere' in kind else 0), 'focus')
            self.ActionInvoked(number, action)
        @dbus.service.method(name, in_signature='u', out_signature='')
        def CloseNotification(self, number):
            note(method='CloseNotification', id=int(number), app='', replaces=0, summary='', body='', hints={},
                 actions=[], timeout=0)
            if 'closing' in kind: raise dbus.DBusException()
    DBusGMainLoop(set_as_default=True)
    owned = dbus.service.BusName(name, dbus.SessionBus(), replace_existing=True, do_not_queue=True)
    Service(dbus.SessionBus(), '/org/freedesktop/Notifications')
    print('ready', file=sys.stderr, flush=True)
    GLib.MainLoop().run()
    """

  /// The address of the bus.
  let address: String
  private let folder: URL

  /// The calls of the service, except those for its capabilities.
  var calls: [Call] { allCalls.filter { $0.method != "GetCapabilities" } }

  /// The calls of the service.
  var allCalls: [Call] {
    let text = (try? String(contentsOf: folder.appending(path: "calls"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Call.self, from: Data($0.utf8)) }
  }

  /// Returns a presenter in this process.
  func presenter(clock: any FetchClock = SystemClock()) -> DesktopNotifications {
    DesktopNotifications(
      name: "Tests", environment: ["DBUS_SESSION_BUS_ADDRESS": address, "PATH": "/usr/bin:/bin"], clock: clock)
  }

  /// Runs the body with a bus.
  static func with<Value: Sendable>(_ body: @Sendable (Desktop) async throws -> Value) async throws -> Value {
    try await withFolder([:]) { folder in
      let daemon = try #require(program("dbus-daemon"))
      let bus = try ChildProcess(
        ["--session", "--nofork", "--nopidfile", "--print-address=2"], executable: daemon,
        environment: ["PATH": "/usr/bin:/bin", "TMPDIR": "/tmp"])
      return try await withResource(bus, release: { await $0.kill() }) { bus in
        for await line in bus.errorLines where line.hasPrefix("unix:") {
          return try await body(Desktop(address: line, folder: folder))
        }
        throw TestResponse.Unexpected(description: "the bus does not start")
      }
    }
  }

  /// Runs the body with a running service.
  func run<Value: Sendable>(_ kind: Kind, _ body: @Sendable () async throws -> Value) async throws -> Value {
    let service = try ChildProcess(
      ["-c", Self.service, kind.rawValue, folder.appending(path: "calls").path], executable: Self.python,
      environment: ["DBUS_SESSION_BUS_ADDRESS": address, "PATH": "/usr/bin:/bin"])
    return try await withResource(service, release: { await $0.kill() }) { service in
      for await line in service.errorLines where line == "ready" { return try await body() }
      throw TestResponse.Unexpected(description: await service.result().errors)
    }
  }
}
