import FaultServer
import Foundation
import News
import NewsClient
import PostgresClient
import PushMocks
import TestKit
import TestSupport
import Testing

/// A server, mocks of the push services, and the client's command with a store.
private struct PushSystem: Sendable {
  let mocks: PushMocks
  let installation: Installation
  let settings: [String: String]
  let server: RunningServer
  /// A key that may publish and read about pushes.
  let key: String
  /// The folder of the client's store.
  let store: URL

  /// Runs the body with a server that sends to mocks and asks for reports about all pushes.
  static func with(_ body: @escaping @Sendable (PushSystem) async throws -> Void) async throws {
    try await withFolder([:]) { folder in
      try await PushMocks.with { mocks in
        func file(_ name: String, _ text: String) throws -> String {
          let file = folder.appending(path: name)
          try Data(text.utf8).write(to: file)
          return file.path
        }
        let settings = [
          "TIDINGS_APNS_KEY_FILE": try file("apns.p8", mocks.apns.keyPEM), "TIDINGS_APNS_KEY_ID": APNsMock.keyID,
          "TIDINGS_APNS_TEAM_ID": APNsMock.teamID, "TIDINGS_APNS_URL": mocks.apns.url,
          "TIDINGS_FCM_CREDENTIALS": try file("fcm.json", String(decoding: mocks.fcm.serviceAccount, as: UTF8.self)),
          "TIDINGS_FCM_URL": mocks.fcm.url, "TIDINGS_VAPID_KEY_FILE": try file("vapid.pem", mocks.webPush.keyPEM),
          "TIDINGS_VAPID_SUBJECT": "mailto:news@example.org",
          "TIDINGS_PUSH_ORIGINS": "https://a.example,https://b.example \(mocks.webPush.url)",
          "TIDINGS_PUSH_CA_FILE": try file("ca.pem", mocks.authority), "TIDINGS_PUSH_WINDOW": "0",
          "TIDINGS_PUSH_REPORT_RATE": "1", "TIDINGS_ALLOWED_NETWORKS": "127.0.0.1",
        ]
        try await Installation.with { installation in
          let made = try await installation.run(
            "keys", "create", "--name", "desk", "--scope", "items:publish", "--scope", "push:send")
          try #require(made.status == 0, "\(made.errors)")
          let key = made.output.trimmingCharacters(in: .newlines)
          try await installation.serve(changes: settings) { server in
            try await body(
              PushSystem(
                mocks: mocks, installation: installation, settings: settings, server: server, key: key,
                store: folder.appending(path: "store")))
          }
        }
      }
    }
  }

  private var environment: [String: String] {
    ["PATH": "/usr/bin:/bin", "TZ": "UTC", "HOME": store.path + "-home"]
  }

  /// Runs `tidings push test`.
  func test(_ arguments: [String]) async throws -> ChildProcess.Result {
    try await ChildProcess(["push", "test"] + arguments, environment: installation.environment(settings)).result()
  }

  /// Runs the client's command.
  func client(_ arguments: [String], input: Data? = nil) async throws -> ChildProcess.Result {
    let file = store.deletingLastPathComponent().appending(path: "input-\(UUID())")
    try (input ?? Data()).write(to: file)
    return try await ChildProcess(
      ["--server", server.client.url, "--store", store.path] + arguments, executable: ChildProcess.tidings + "-fetch",
      environment: environment, input: file.path
    ).result()
  }

  /// Starts the app of the store.
  func startApp() throws -> ChildProcess {
    let folder = URL(filePath: ChildProcess.tidings).deletingLastPathComponent()
    return try ChildProcess(
      [ChildProcess.tidings + "-fetch", store.path], executable: folder.appending(path: "push-app").path,
      environment: environment)
  }

  /// The lines that the app has written.
  func appLines() -> [String] {
    let text = try? String(contentsOf: store.appending(path: "app.log"), encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }

  /// Registers the client, and returns the messages that it is to receive.
  func register(_ provider: String) async throws -> MockRecord {
    var (options, record) = (["--token", "device-token-of-fcm"], mocks.fcm.record)
    switch provider {
    case "apns":
      options = ["--token", String(repeating: "0a", count: 32), "--app", "example.news"]
      record = mocks.apns.record
    case "webpush":
      options = ["--endpoint", mocks.webPush.addEndpoint()]
      record = mocks.webPush.record
    default: break
    }
    let result = try await client(["push", "register", "--provider", provider] + options)
    try #require(result.status == 0, "\(result.errors)")
    return record
  }

  /// Waits for a message, and returns it as the device receives it.
  func message(_ record: MockRecord) async throws -> Data {
    try await eventually("a message arrives") { !record.messages.isEmpty }
    return try #require(record.takeMessages().first?.payload)
  }

  func publish(_ fields: String) async throws -> NewsItem {
    try await server.send("POST", "/v1/editorial/items", key: key, body: "{\(fields)}")
      .json(EditorialItem.self, status: 201).item
  }
}

@Suite("Pushes from a publication to an app") struct PushDeliveryTests {
  @Test(
    "wake the client, which fetches the delta with one request, and its report shows it to editors",
    arguments: ["apns", "fcm", "webpush"])
  func report(provider: String) async throws {
    try await PushSystem.with { system in
      _ = try await system.publish(#""text": "one""#)
      #expect(try await system.client(["fetch"]).status == 0)
      let record = try await system.register(provider)
      let options = provider == "webpush" ? ["--encrypted"] : []
      if provider == "webpush" {
        let waiting = try await system.client(["push", "status"])
        #expect(waiting.output.contains("waiting for the first push"), "\(waiting.output)")
        let first = try await system.client(["push", "receive"] + options, input: try await system.message(record))
        #expect(first.status == 10, "\(first.errors)")
      }
      let status = try await system.client(["push", "status"])
      #expect(status.output.contains("state     active") && !status.output.contains("token"), "\(status.output)")
      let item = try await system.publish(#""text": "two""#)
      let message = try await system.message(record)
      let received = try await system.client(["push", "receive", "--json"] + options, input: message)
      #expect(received.status == 0, "\(received.errors)")
      let report = try NewsJSON.decode(FetchReport.self, from: Data(received.output.utf8))
      #expect(report.inserted == 1 && report.requests == 1)
      let again = try await system.client(["push", "receive", "--json"] + options, input: message)
      #expect(again.status == 10 && again.output.contains(#""requests":0"#), "\(again.output)")
      var push: Push?
      try await eventually("the push is counted") {
        let list = try await system.server.send("GET", "/v1/editorial/pushes", key: system.key)
          .json(PushList.self, status: 200)
        push = list.pushes.first { $0.item == item.id && $0.reports > 0 }
        return push != nil
      }
      let id = try #require(push?.id).uuidString.lowercased()
      let shown = try await system.server.send("GET", "/v1/editorial/pushes/\(id)", key: system.key)
        .json(Push.self, status: 200)
      #expect(shown.sent == 1 && shown.woke == 1 && shown.foundNews == 1 && shown.reports == 1)
      #expect(try await system.client(["push", "remove"]).status == 0)
      let none = try await system.client(["push", "status"])
      #expect(none.output.hasPrefix("provider  none"))
    }
  }

  @Test("are tested for an app that is not registered, and for a browser, which shows the test")
  func test() async throws {
    try await PushSystem.with { system in
      let token = String(repeating: "0b", count: 32)
      let app = try await system.test(["--provider", "apns", "--app", "org.example.news", "--token", token])
      #expect(app.status == 0 && app.output == "APNs has accepted the push.\n", "\(app.errors)")
      let woken = try #require(system.mocks.apns.record.takeMessages().first)
      #expect(woken.address == token && "\(woken.headers)".contains("org.example.news") && !woken.isVisible)

      let offer = try await system.server.send("GET", "/v1/push").json(PushOffer.self, status: 200)
      #expect(offer.providers == [.apns, .fcm, .webpush] && offer.webPush?.publicKey.utf8.count == 87)
      let subscription = system.mocks.webPush.subscribe()
      let body = #"{"provider": "webpush", "kind": "browser", "alerts": true, "subscription": \#(subscription.json)}"#
      let device = try await system.server.send("POST", "/v1/devices", body: body)
        .json(DeviceCredentials.self, status: 201)
      let shown = try await system.test(["--device", device.id.uuidString, "--data", "screen=settings"])
      #expect(shown.status == 0 && shown.output == "The push service has accepted the push.\n", "\(shown.errors)")
      let message = try #require(system.mocks.webPush.record.messages.first { $0.isVisible })
      #expect(message.address == subscription.id && message.field("title") == "Tidings")
      #expect(message.field("screen") == "settings" && message.field("token") != nil)
    }
  }

  @Test("start a download that survives the app; its end launches the app, which notifies the user once")
  func download() async throws {
    try await PushSystem.with { system in
      try await FaultServer.with { pages in
        let page = FaultResponse(
          headers: [("Content-Type", "application/pdf"), ("ETag", #""one""#)], body: Data(repeating: 7, count: 200_000))
        pages.respond { _ in page.hanging(at: .body(100_000)) }
        #expect(try await [0, 10].contains(system.client(["fetch"]).status))
        let app = URL(filePath: ChildProcess.tidings).deletingLastPathComponent().appending(path: "push-app").path
        let allowed = try await system.client(
          ["app", "set", app, ChildProcess.tidings + "-fetch", system.store.path])
        try #require(allowed.status == 0, "\(allowed.errors)")
        let record = try await system.register("fcm")
        try await withResource(try system.startApp(), release: { await $0.kill() }) { process in
          let lock = system.store.appending(path: "app.lock")
          try await eventually("the app runs") { FileManager.default.fileExists(atPath: lock.path) }
          let item = try await system.publish(#""text": "two", "title": "Timetable", "url": "\#(pages.url)/page""#)
          let received = try await system.client(["push", "receive"], input: try await system.message(record))
          #expect(received.status == 0, "\(received.errors)")
          #expect(try await system.client(["list", "--json"]).output.contains(item.id.uuidString.lowercased()))
          try await eventually("the download is half done") { pages.requests.contains { $0.path == "/page" } }
          #expect(system.appLines() == ["launched user -", "download Timetable"])
          // SIGKILL
          await process.kill()
        }
        pages.respond { _ in page }
        pages.release()
        try await eventually("the user is notified") { system.appLines().contains { $0.hasPrefix("notification") } }
        #expect(
          system.appLines() == [
            "launched user -", "download Timetable", "launched transfer pages", "finished Timetable",
            "notification Timetable can be read",
          ])
        // A push for the dead app launches it too.
        let second = try await system.publish(#""text": "three", "title": "Ferry""#)
        let woken = try await system.client(["push", "receive"], input: try await system.message(record))
        #expect(woken.status == 0, "\(woken.errors)")
        #expect(system.appLines().contains("launched push -"))
        #expect(try await system.client(["list", "--json"]).output.contains(second.id.uuidString.lowercased()))
        try await endApp(system)
      }
    }
  }

  /// Ends the app that the command has launched.
  private func endApp(_ system: PushSystem) async throws {
    let text = try String(contentsOf: system.store.appending(path: "app.lock"), encoding: .utf8)
    guard let process = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)), process > 1 else { return }
    kill(process, SIGKILL)
  }
}
