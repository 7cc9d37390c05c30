import BackgroundFetch
import Foundation
import News
import NewsClient
import TestKit
import Testing

@Suite("The payload of a push") struct RemoteNotificationTests {
  private static let item = "01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6"
  private static let push = "3f0c5b0e-7f4d-4a55-9a43-5f2e5f0e6a11"
  private static let token = "1k3x9qam9pkx.10"

  private func parse(_ text: String) -> RemoteNotification { RemoteNotification(payload: Data(text.utf8)) }

  @Test(
    "of any push service has the same fields",
    arguments: [
      #"{"aps":{"content-available":1},"content-id":"ITEM","push":"PUSH","report":1,"token":"TOKEN"}"#,
      #"{"content-id":"ITEM","push":"PUSH","report":"1","token":"TOKEN"}"#,
      #"{"content-id":"ITEM","push":"PUSH","report":1,"token":"TOKEN","unknown":[{}]}"#,
      #"{"data":{"content-id":"ITEM","push":"PUSH","report":"1","token":"TOKEN"},"from":"7"}"#,
      #"{"data":{"token":"1k3x9qam9pkx.9"},"content-id":"ITEM","push":"PUSH","report":true,"token":"TOKEN"}"#,
    ])
  func silent(payload: String) throws {
    let text = payload.replacing("ITEM", with: Self.item).replacing("PUSH", with: Self.push)
      .replacing("TOKEN", with: Self.token)
    let notification = parse(text)
    #expect(notification.isContentAvailable && notification.asksForReport && notification.alert == nil)
    #expect(notification.contentID == UUID(uuidString: Self.item) && notification.id == UUID(uuidString: Self.push))
    #expect(notification.token == SyncToken(Self.token) && notification.code == nil)
  }

  @Test(
    "with an alert is for display",
    arguments: [
      #"{"aps":{"alert":{"title":"T","body":"B"},"interruption-level":"time-sensitive"},"url":"https://a.example/"}"#,
      #"{"aps":{"alert":{"title":"T","body":"B"},"interruption-level":"critical"},"url":"https://a.example/"}"#,
      #"{"title":"T","body":"B","breaking":"1","url":"https://a.example/","push":"x"}"#,
      #"{"title":"T","body":"B","breaking":true,"url":"https://a.example/","token":"1k3x9qam9pkx.10"}"#,
    ])
  func alert(payload: String) {
    let notification = parse(payload)
    #expect(!notification.isContentAvailable)
    #expect(
      notification.alert
        == .init(title: "T", body: "B", url: URL(string: "https://a.example/"), isBreaking: true))
  }

  @Test(
    "with an alert need not have a title and a text, nor be breaking, nor ask for a report",
    arguments: [
      (#"{"aps":{"alert":{"title":"T"},"interruption-level":"active"}}"#, "T", ""),
      (#"{"aps":{"alert":{"body":"B"}},"report":0}"#, "", "B"), (#"{"title":"T","breaking":"0"}"#, "T", ""),
      (#"{"body":"B","breaking":false,"report":"0"}"#, "", "B"), (#"{"title":"T","breaking":0,"report":2}"#, "T", ""),
    ])
  func partialAlert(payload: String, title: String, body: String) {
    let notification = parse(payload)
    #expect(notification.alert == .init(title: title, body: body) && !notification.asksForReport)
  }

  @Test("may be an alert and a wake, and its page is a page of the web")
  func both() {
    let notification = parse(#"{"aps":{"alert":"B","content-available":1},"url":"file:///etc/passwd"}"#)
    #expect(notification.isContentAvailable)
    #expect(notification.alert == .init(title: "", body: "B"))
    let text = parse(#"{"aps":{"alert":"B","interruption-level":"critical"},"url":"https://a.example/"}"#)
    #expect(text.alert == .init(title: "", body: "B", url: URL(string: "https://a.example/"), isBreaking: true))
  }

  @Test(
    "of this server has any of its fields, beside which the data are those of an app",
    arguments: ["content-id", "push", "token", "code", "title", "body"])
  func ownField(name: String) {
    let notification = parse(#"{"data":{"content-id":"7","room":"1"},"\#(name)":"x"}"#)
    #expect(notification.contentIdentifier == (name == "content-id" ? "x" : nil))
    #expect(notification.userInfo["room"] == nil && notification.userInfo["data"]?["room"] == .string("1"))
    #expect(notification.isContentAvailable == ["content-id", "push", "token"].contains(name))
  }

  @Test("that an app makes has the id of its content as text")
  func made() {
    let id = UUID()
    let notification = RemoteNotification(contentID: id)
    #expect(notification.isContentAvailable && notification.contentID == id)
    #expect(notification.contentIdentifier == id.uuidString.lowercased())
  }

  @Test("has values that stay the same when they are stored")
  func stored() throws {
    let json = #"{"a":[1,2.5,"x",null,true,false,[]],"b":{"c":{}}}"#
    let value = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
    let list: [JSONValue] = [.integer(1), .number(2.5), .string("x"), .null, .bool(true), .bool(false), .array([])]
    #expect(value["a"] == .array(list))
    #expect(value["b"]?["c"] == .object([:]) && value["a"]?["c"] == nil && value["b"]?.text == nil)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == json)
  }

  @Test("with a code is a confirmation and no wake")
  func code() {
    let notification = parse(#"{"code":"3b8_0Qm1kPz7","push":"x"}"#)
    #expect(notification.code == "3b8_0Qm1kPz7" && !notification.isContentAvailable)
    #expect(parse(#"{"code":"\#(String(repeating: "x", count: 256))"}"#).code?.count == 256)
    #expect(parse(#"{"code":"\#(String(repeating: "x", count: 257))"}"#).code == nil)
    #expect(parse(#"{"code":7}"#).code == nil)
  }

  @Test(
    "with an id of another type is still a wake",
    arguments: ["7", "-1", "1e400", "null", "[]", "{}", "true", #""""#, #""no id""#])
  func contentID(value: String) {
    for payload in [#"{"aps":{"content-available":1},"content-id":\#(value)}"#, #"{"content-id":\#(value)}"#] {
      let notification = parse(payload)
      #expect(notification.contentID == nil)
      // 1e400 is no number that JSON readers accept.
      #expect(notification.isContentAvailable || value == "1e400", "\(payload)")
    }
  }

  @Test(
    "of another form asks for nothing",
    arguments: [
      "", "{", "[]", "null", "7", "{}", #"{"aps":null,"token":"x"}"#, #"{"aps":[],"token":"x"}"#,
      #"{"aps":{"content-available":2}}"#, #"{"aps":{"content-available":true}}"#, #"{"data":7}"#, "\u{0}",
      #"{"data":{"data":{"token":"x"}}}"#,
    ])
  func others(payload: String) {
    var push = parse(payload)
    push.userInfo = [:]
    #expect(push == RemoteNotification(isContentAvailable: false))
  }

  @Test("that is hostile ends without a crash")
  func hostile() {
    let deep = String(repeating: #"{"aps":"#, count: 5000) + "1" + String(repeating: "}", count: 5000)
    let brackets = #"{"token":"x","x":"# + String(repeating: "[", count: 30_000)
    let huge = #"{"token":"1k3x9qam9pkx.10","x":"\#(String(repeating: "y", count: 70_000))"}"#
    for payload in [deep, brackets, huge] { #expect(!parse(payload).isContentAvailable) }
    var generator = SplitMix64(seed: 24)
    let valid = Array(
      #"{"aps":{"content-available":1,"alert":{"title":"é"}},"token":"1k3x9qam9pkx.10","report":1}"#.utf8)
    for _ in 0..<3000 {
      var bytes = valid
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      let notification = RemoteNotification(payload: Data(bytes.prefix(Int.random(in: 1...200, using: &generator))))
      #expect(notification.code == nil)
    }
  }

  @Test("is read up to its maximum size", arguments: [(65_536, true), (65_537, false)])
  func size(bytes: Int, isRead: Bool) {
    let (start, end) = (#"{"token":"1k3x9qam9pkx.10","x":""#, #""}"#)
    let notification = parse(start + String(repeating: "y", count: bytes - start.count - end.count) + end)
    #expect(notification.isContentAvailable == isRead && (notification.token != nil) == isRead)
  }

  @Test("has the fields of the app, and a content id of any form")
  func ownFields() async throws {
    let payload = #"{"aps":{"content-available":1},"content-id":42,"room":{"id":7.5,"tags":["a",null,true]},"app":"x"}"#
    let push = RemoteNotification(payload: Data(payload.utf8))
    #expect(push.isContentAvailable && push.contentID == nil && push.contentIdentifier == "42")
    #expect(push.userInfo["app"]?.text == "x")
    #expect(push.userInfo["room"]?["tags"] == .array([.string("a"), .null, .bool(true)]))
    #expect(push.userInfo["room"]?["id"] == .number(7.5))
    #expect(push.userInfo["aps"]?["content-available"] == .integer(1))
    let fcm = RemoteNotification(payload: Data(#"{"message_id":"1","data":{"content-id":"a b","room":"7"}}"#.utf8))
    #expect(fcm.isContentAvailable && fcm.contentIdentifier == "a b" && fcm.userInfo["room"] == .string("7"))
    let own = RemoteNotification(payload: Data(#"{"aps":{},"room":9007199254740993}"#.utf8))
    #expect(!own.isContentAvailable && own.userInfo["room"] == .integer(9_007_199_254_740_993))
    let both = RemoteNotification(payload: Data(#"{"aps":{"content-available":1},"data":{"room":"7"}}"#.utf8))
    #expect(both.isContentAvailable && both.userInfo["data"]?["room"] == .string("7"))
    for other in ["", "[]", "7", "{"] { #expect(RemoteNotification(payload: Data(other.utf8)).userInfo.isEmpty) }
    try await Installation.with { installation in
      let client = try installation.client()
      let seen = Reports()
      let observation = client.remoteNotifications.add { push in
        seen.note("\(push.contentIdentifier ?? "-") \(push.userInfo["app"]?.text ?? "-")")
      }
      try client.updateSchedule { $0.setInterval(.minimum) }
      await client.deliver(Data(payload.utf8))
      await client.deliver(Data(#"{"aps":{},"app":"y"}"#.utf8))
      #expect(seen.texts == ["42 x", "- y"])
      withExtendedLifetime(observation) {}
    }
  }
}
