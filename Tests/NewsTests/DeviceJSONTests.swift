import Foundation
import News
import Testing

@Suite struct `The JSON of devices and pushes` {
  private static let id = UUID(
    uuid: (0x01, 0x9A, 0xBC, 0xDE, 0xF0, 0x12, 0x7A, 0xBC, 0x8D, 0xEF, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB))
  private static let idText = "019abcde-f012-7abc-8def-0123456789ab"
  private static let date = Date(timeIntervalSince1970: 1_795_249_800.5)
  private static let dateText = "2026-11-21T08:30:00.500Z"

  private func text(_ value: some Encodable) throws -> String {
    String(decoding: try NewsJSON.encode(value), as: UTF8.self)
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try NewsJSON.decode(type, from: Data(json.utf8))
  }

  @Test func `A registration has the fields of its provider, and is read as it was written`() throws {
    var registration = DeviceRegistration(provider: .apns, token: "00ff", app: "example.reader")
    #expect(
      try text(registration)
        == #"{"alerts":false,"app":"example.reader","kind":"app","provider":"apns","token":"00ff"}"#)
    registration.environment = .sandbox
    registration.topics = ["harbour"]
    registration.languages = ["de"]
    registration.alerts = true
    registration.timeZone = "Europe/Berlin"
    registration.quiet = QuietHours(from: 22 * 60, to: 7 * 60 + 5)
    #expect(
      try text(registration) == """
        {"alerts":true,"app":"example.reader","environment":"sandbox","kind":"app","languages":["de"],"provider":"apns",\
        "quiet":{"from":"22:00","to":"07:05"},"timeZone":"Europe/Berlin","token":"00ff","topics":["harbour"]}
        """)
    #expect(try read(DeviceRegistration.self, try text(registration)) == registration)
    let browser = DeviceRegistration(
      provider: .webpush, kind: .browser,
      subscription: WebPushSubscription(endpoint: "https://push.example/a", keys: .init(p256dh: "BA", auth: "AA")))
    #expect(
      try text(browser) == """
        {"alerts":false,"kind":"browser","provider":"webpush","subscription":{"endpoint":"https://push.example/a",\
        "keys":{"auth":"AA","p256dh":"BA"}}}
        """)
    #expect(try read(DeviceRegistration.self, try text(browser)) == browser)
  }

  @Test func `A registration is that of an app without alerts unless it says otherwise`() throws {
    let read = try read(DeviceRegistration.self, #"{"provider":"fcm","token":"t","later":1}"#)
    #expect(read == DeviceRegistration(provider: .fcm, token: "t"))
  }

  @Test(
    arguments: [
      #"{"provider":"carrier","token":"t"}"#, #"{"token":"t"}"#, #"{"provider":"fcm","kind":"fridge"}"#,
      #"{"provider":"fcm","quiet":{"from":"22:00"}}"#, #"{"provider":"fcm","quiet":{"from":"22:00","to":"22:00"}}"#,
      #"{"provider":"fcm","quiet":{"from":"24:00","to":"07:00"}}"#,
      #"{"provider":"fcm","quiet":{"from":"7:00","to":"09:00"}}"#,
    ])
  func `A registration that breaks a rule of its form is not read`(_ json: String) {
    #expect(throws: DecodingError.self) { try read(DeviceRegistration.self, json) }
  }

  @Test(
    arguments: [
      ("00:00", 0), ("23:59", 1439), ("07:05", 425), ("24:00", nil), ("12:60", nil), ("1:000", nil), ("", nil),
      ("+1:00", nil), ("12:0", nil), ("12-00", nil), ("12:00:00", nil), ("１2:00", nil),
    ])
  func `A time of day has two digits for the hour and for the minute`(_ text: String, _ minute: Int?) {
    #expect(QuietHours.minute(text) == minute)
  }

  @Test func `Quiet hours have two different minutes of a day`() {
    #expect(QuietHours(from: 1320, to: 420).isValid && QuietHours(from: 0, to: 1439).isValid)
    #expect(!QuietHours(from: 60, to: 60).isValid && !QuietHours(from: -1, to: 60).isValid)
    #expect(!QuietHours(from: 60, to: 1440).isValid)
  }

  @Test func `A report names its push in lower case`() throws {
    let token = SyncToken(epoch: "k3x9qa", scope: .feed, version: 36)
    let report = DeviceReport(token: token, push: Self.id, result: .newData)
    #expect(try text(report) == "{\"push\":\"\(Self.idText)\",\"result\":\"newData\",\"token\":\"\(token)\"}")
    #expect(try read(DeviceReport.self, try text(report)) == report)
    #expect(try text(DeviceReport(token: token)) == "{\"token\":\"\(token)\"}")
  }

  @Test func `Credentials and offers are read as they were written`() throws {
    let credentials = DeviceCredentials(id: Self.id, secret: "s", expires: Self.date)
    #expect(try text(credentials) == "{\"expires\":\"\(Self.dateText)\",\"id\":\"\(Self.idText)\",\"secret\":\"s\"}")
    #expect(try read(DeviceCredentials.self, try text(credentials)) == credentials)
    for offer in [PushOffer(providers: []), PushOffer(providers: [.apns, .webpush], webPush: .init(publicKey: "BK"))] {
      #expect(try read(PushOffer.self, try text(offer)) == offer)
    }
    #expect(try read(PushOffer.self, #"{"providers":["apns","pigeon"]}"#) == PushOffer(providers: [.apns]))
  }

  @Test func `A push is written without what is unknown, and read as it was written`() throws {
    let bare = Push(id: Self.id, kind: .silent, created: Self.date, starts: Self.date)
    var item = Self.id.uuid
    item.15 = 0xAC
    let full = Push(
      id: Self.id, kind: .alert, item: UUID(uuid: item), title: "A \"ferry\"", created: Self.date,
      starts: Self.date + 1, finished: Self.date + 2, cancelled: Self.date + 3, audience: 9, sent: 8, refused: 7,
      gone: 6, dropped: 5, reports: 4, woke: 3, foundNews: 2, lastSent: Self.date + 4)
    #expect(
      try text(full) == """
        {"audience":9,"cancelled":"2026-11-21T08:30:03.500Z","created":"\(Self.dateText)","dropped":5,\
        "finished":"2026-11-21T08:30:02.500Z","foundNews":2,"gone":6,"id":"\(Self.idText)",\
        "item":"019abcde-f012-7abc-8def-0123456789ac","kind":"alert","lastSent":"2026-11-21T08:30:04.500Z","refused":7,\
        "reports":4,"sent":8,"starts":"2026-11-21T08:30:01.500Z","title":"A \\"ferry\\"","woke":3}
        """)
    for push in [bare, full] {
      #expect(try read(Push.self, try text(push)) == push)
    }
    #expect(try text(PushList(pushes: [bare])) == "{\"pushes\":[\(try text(bare))]}")
    #expect(try !text(bare).contains("title"))
  }

  @Test func `An audience names its providers, and a reader ignores unknown ones`() throws {
    let audience = PushAudience(devices: 3, quiet: 1, providers: [.apns: 2, .fcm: 1])
    #expect(try text(audience) == #"{"devices":3,"providers":{"apns":2,"fcm":1},"quiet":1}"#)
    #expect(
      try read(PushAudience.self, #"{"devices":4,"providers":{"apns":2,"fcm":1,"pigeon":1},"quiet":1}"#).providers
        == audience.providers)
  }
}
