import Foundation
import News
import Testing

@Suite struct `The JSON of webhooks` {
  private static let id = UUID(
    uuid: (0x01, 0x9A, 0xBC, 0xDE, 0xF0, 0x12, 0x7A, 0xBC, 0x8D, 0xEF, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB))
  private static let date = Date(timeIntervalSince1970: 1_795_249_800.5)

  private func text(_ value: some Encodable) throws -> String {
    String(decoding: try NewsJSON.encode(value), as: UTF8.self)
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try NewsJSON.decode(type, from: Data(json.utf8))
  }

  @Test func `A webhook has the names of its properties, and is read as it was written`() throws {
    let webhook = Webhook(
      id: Self.id, url: "https://hooks.example/a", events: [.published, .retracted], topics: ["a"], paused: true,
      disabledReason: .failing, created: Self.date, lastSuccess: Self.date + 1, failingSince: Self.date + 2,
      previousSecretUntil: Self.date + 3, secret: "whsec_AA", revision: 7)
    let json = try text(webhook)
    #expect(
      json == """
        {"created":"2026-11-21T08:30:00.500Z","disabledReason":"failing","events":["item.published","item.retracted"],\
        "failingSince":"2026-11-21T08:30:02.500Z","id":"019abcde-f012-7abc-8def-0123456789ab",\
        "lastSuccess":"2026-11-21T08:30:01.500Z","paused":true,"previousSecretUntil":"2026-11-21T08:30:03.500Z",\
        "revision":7,"secret":"whsec_AA","topics":["a"],"url":"https://hooks.example/a"}
        """)
    #expect(try read(Webhook.self, json) == webhook)
    let bare = Webhook(id: Self.id, url: "https://hooks.example/", created: Self.date, revision: 1)
    #expect(try read(Webhook.self, try text(bare)) == bare)
    #expect(bare.events == [.published, .changed, .retracted, .expired] && !bare.paused)
  }

  @Test func `A delivery has its attempts, and is read as it was written`() throws {
    var item = Self.id.uuid
    item.15 = 0xAC
    let delivery = WebhookDelivery(
      id: Self.id, event: "item.changed", item: UUID(uuid: item), version: 3, state: .due, created: Self.date,
      nextAttempt: Self.date + 2,
      attempts: [WebhookAttempt(number: 1, at: Self.date + 1, status: 503, milliseconds: 12, error: "busy")])
    let json = try text(delivery)
    #expect(
      json == """
        {"attempts":[{"at":"2026-11-21T08:30:01.500Z","error":"busy","milliseconds":12,"number":1,"status":503}],\
        "created":"2026-11-21T08:30:00.500Z","event":"item.changed","id":"019abcde-f012-7abc-8def-0123456789ab",\
        "item":"019abcde-f012-7abc-8def-0123456789ac","nextAttempt":"2026-11-21T08:30:02.500Z","state":"due",\
        "version":3}
        """)
    #expect(try read(WebhookDelivery.self, json) == delivery)
  }
}
