import FaultServer
import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// `tidings push`, with a service in place of Google's.
@Suite(.enabled(if: PushInstallation.isPossible, "needs openssl")) struct PushCommandTests {
  private static let token = "device:secret-token"

  @Test("A test of a token sends one push with the fields of the command, and needs no device")
  func token() async throws {
    try await PushInstallation.with { push in
      let result = try await push.test([
        "--provider", "fcm", "--token", Self.token, "--data", "screen=a=b", "token=x", "--data", "empty=",
      ])
      #expect(result.status == 0 && result.output == "FCM has accepted the push.\n", "\(result.errors)")
      #expect(push.messages.count == 1)
      let message = try #require(push.messages.first)
      #expect(message.contains(#""empty":"","screen":"a=b"}"#) && !message.contains(#""token":"x""#), "\(message)")
      #expect(message.contains(#""token":"\#(Self.token)""#) && message.contains(#""priority":"NORMAL""#))
      let epoch: String = try await push.installation.value("SELECT id FROM epochs ORDER BY number DESC LIMIT 1")
      let current = SyncToken(epoch: epoch, scope: .feed, version: try await push.installation.counter())
      #expect(message.contains(#""token":"\#(current)","empty":"#), "\(message)")
      #expect(try await push.installation.value("SELECT count(*) FROM pushes", as: Int.self) == 0)
    }
  }

  @Test(
    "An answer that is no success is a sentence and the status 1, without the token",
    arguments: [
      (404, "UNREGISTERED", "the address is gone"), (403, "SENDER_ID_MISMATCH", "FCM answers 403 SENDER_ID_MISMATCH"),
      (503, "UNAVAILABLE", "FCM answers 503 UNAVAILABLE"), (401, "UNAUTHENTICATED", "check TIDINGS_FCM_CREDENTIALS"),
    ])
  func refusals(status: Int, code: String, sentence: String) async throws {
    let error = #"{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "\#(code)"}"#
    try await PushInstallation.with(.json(#"{"error": {"status": "X", "details": [\#(error)]}}"#, status: status)) {
      push in
      let result = try await push.test(["--provider", "fcm", "--token", Self.token])
      #expect(result.status == 1 && result.output == "" && result.errors.contains(sentence), "\(result.errors)")
      #expect(result.errors.hasPrefix("tidings: ") && !result.errors.contains(Self.token))
    }
  }

  @Test("A registered device is tested by its id, without an effect on what it is owed")
  func device() async throws {
    try await PushInstallation.with { push in
      let body = #"{"provider": "fcm", "token": "\#(Self.token)"}"#
      let device = try await push.installation.serve(changes: push.settings) { server in
        try await server.send("POST", "/v1/devices", body: body).json(DeviceCredentials.self, status: 201)
      }
      let result = try await push.test(["--device", device.id.uuidString, "--data", "screen=settings"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(push.messages.count == 1 && push.messages.first?.contains(Self.token) == true)
      #expect(push.messages.first?.contains(#""screen":"settings""#) == true)
      #expect(try await push.installation.value("SELECT count(*) FROM deliveries", as: Int.self) == 0)
      let unknown = try await push.test(["--device", UUID().uuidString])
      #expect(unknown.status == 1 && unknown.errors.contains("there is no device"))
    }
  }

  @Test("An alert is counted, requested once, sent by the server, and listed")
  func alert() async throws {
    try await PushInstallation.with { push in
      let key = try await push.installation.makeKey()
      try await push.installation.serve(changes: push.settings) { server in
        let body = #"{"provider": "fcm", "token": "\#(Self.token)", "alerts": true}"#
        #expect(try await server.send("POST", "/v1/devices", body: body).status == 201)
        let item = try await server.send(
          "POST", "/v1/editorial/items", key: key, body: #"{"text": "It is back.", "title": "The\tferry"}"#
        ).json(EditorialItem.self, status: 201).item.id.uuidString.lowercased()
        let audience = try await push.installation.run("push", "send", "--item", item, "--dry-run")
        #expect(audience.output == "apns\t0\nfcm\t1\nwebpush\t0\nquiet\t0\n", "\(audience.errors)")
        let requested = try await push.installation.run("push", "send", "--item", item)
        #expect(requested.status == 0 && requested.output == "waiting\n", "\(requested.errors)")
        try await eventually("the alert is sent") { push.messages.contains { $0.contains(#""priority":"HIGH""#) } }
        try await eventually("it is counted") {
          let list = try await push.installation.run("push", "list").output
          return list.split(separator: "\n").contains { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return columns.count == 12 && columns[1] == "alert" && columns[3] == item
              && columns[4...6] == ["1", "1", "0"] && columns[11] == "The ferry"
          }
        }
        let newest = try await push.installation.run("push", "list", "--limit", "1").output
        #expect(newest.split(separator: "\n").count == 1 && newest.contains("\talert\t"))
        let again = try await push.installation.run("push", "send", "--item", item)
        #expect(again.status == 0 && again.output.hasPrefix("released\t") && again.errors.contains("before"))
        #expect(push.messages.count { $0.contains(#""priority":"HIGH""#) } == 1)
      }
      let unknown = try await push.installation.run("push", "send", "--item", UUID().uuidString)
      #expect(unknown.status == 1 && unknown.errors.contains("there is no item"))
    }
  }

  @Test("A list has the numbers of each push in the order of its headings, the newest push first")
  func list() async throws {
    try await Installation.with { installation in
      let start = 1_767_225_600.0
      let ids = [UUID(), UUID()]
      for (index, kind) in ["silent", "retraction"].enumerated() {
        let time = Date(timeIntervalSince1970: start + Double(index))
        _ = try await installation.sql.query(
          """
          INSERT INTO pushes (id, kind, epoch, version, scopes, created_at, starts_at, fan_out_started_at,
            fanned_out_at, audience)
          VALUES (\(ids[index]), \(kind), 'x', 1, ARRAY[''], \(time), \(time), \(time), \(time), 7)
          """)
      }
      _ = try await installation.sql.query(
        """
        INSERT INTO push_results (push, sent, refused, gone, dropped, reports, woke, found_news)
        VALUES (\(ids[0]), 1, 2, 3, 4, 6, 9, 5)
        """)
      let lines = try await installation.run("push", "list").output.split(separator: "\n").map(String.init)
      let names = ids.map { $0.uuidString.lowercased() }
      #expect(
        lines == [
          "\(names[1])\tretraction\t2026-01-01T00:00:01.000Z\t-\t7\t0\t0\t0\t0\t0\t0\t-",
          "\(names[0])\tsilent\t2026-01-01T00:00:00.000Z\t-\t7\t1\t2\t3\t4\t6\t5\t-",
        ])
    }
  }

  @Test("An item that is no longer published has no alert")
  func retracted() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      let id = try await installation.serve { server in
        let item = try await server.send("POST", "/v1/editorial/items", key: key, body: #"{"text": "x"}"#)
          .json(EditorialItem.self, status: 201).item.id.uuidString.lowercased()
        let removed = try await server.send(
          "DELETE", "/v1/editorial/items/\(item)", key: key, headers: [("If-Match", "*")])
        try #require(removed.status < 300, "\(removed.text)")
        return item
      }
      let result = try await installation.run("push", "send", "--item", id)
      #expect(result.status == 1 && result.output == "" && result.errors.contains("is no longer published"))
    }
  }

  @Test(
    "Arguments that name no address, or two, are refused",
    arguments: [
      [], ["--token", "t"], ["--provider", "fcm"], ["--provider", "apns", "--token", "00"],
      ["--provider", "webpush", "--token", "t"], ["--provider", "mail", "--token", "t"],
      ["--provider", "fcm", "--token", "t", "--app", "a"], ["--device", "x"],
      ["--device", "5f0c3a52-0d0e-4f0c-9a8e-1d1f2c3b4a5d", "--token", "t"],
      ["--device", "5f0c3a52-0d0e-4f0c-9a8e-1d1f2c3b4a5d", "--provider", "fcm"],
      ["--provider", "fcm", "--token", "t", "--data", "x"],
    ])
  func arguments(_ arguments: [String]) async throws {
    try await Installation.with(schema: false) { installation in
      let result = try await ChildProcess(["push", "test"] + arguments, environment: installation.environment())
        .result()
      #expect(result.status == 64 && result.output == "", "\(result.errors)")
    }
  }

  @Test("A push service without keys is an invalid setting")
  func unconfigured() async throws {
    try await Installation.with { installation in
      let result = try await installation.run("push", "test", "--provider", "fcm", "--token", "t")
      #expect(result.status == 78 && result.errors.contains("TIDINGS_FCM_CREDENTIALS is not set"), "\(result.errors)")
      let apns = try await installation.run("push", "test", "--provider", "apns", "--app", "a", "--token", "00")
      #expect(apns.status == 78 && apns.errors.contains("TIDINGS_APNS_KEY_FILE is not set"), "\(apns.errors)")
      let unreadable = try await installation.run(
        "push", "test", "--provider", "fcm", "--token", "t", changes: ["TIDINGS_FCM_CREDENTIALS": "/nowhere"])
      #expect(unreadable.status == 78 && unreadable.errors.contains("TIDINGS_FCM_CREDENTIALS must name a file"))
      #expect(try await installation.run("push", "list").output == "")
      #expect(try await installation.run("push", "list", "--limit", "0").status == 64)
    }
  }
}
