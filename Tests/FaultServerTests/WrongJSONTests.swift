import FaultServer
import Foundation
import News
import Testing

/// The JSON anomalies as a decoder of the wire types sees them.
@Suite struct WrongJSONTests {
  private let feed = FaultFeed()

  init() {
    feed.publish("one", topics: ["sport"], title: "One")
    feed.publish("two")
  }

  private func body(_ target: String) -> Data {
    feed.respond(FaultRequest(target: target)).body
  }

  @Test(arguments: WrongJSON.allCases)
  func `the good ones can be read and the wrong ones cannot`(_ wrong: WrongJSON) {
    let (list, changes) = (body("/v1/items"), body("/v1/changes"))
    let (spoiltList, spoiltChanges) = (wrong.modify(list), wrong.modify(changes))
    #expect(spoiltChanges != changes)
    // Lists of items contain neither.
    #expect((spoiltList == list) == [.unknownOp, .tokenIsGarbage].contains(wrong))
    let readList = try? NewsJSON.decode(ItemList.self, from: spoiltList)
    let readChanges = try? NewsJSON.decode(ChangeList.self, from: spoiltChanges)
    if wrong.isGood {
      #expect(readList?.items.count == 2)
      #expect(readChanges?.changes.filter { if case .put = $0 { true } else { false } }.count == 2)
    } else if !wrong.isOpen {
      #expect(readChanges == nil)
      #expect(readList == nil || wrong == .tokenIsGarbage)
    }
  }

  @Test func `invalid JSON is sent byte by byte`() {
    let list = body("/v1/items")
    #expect(WrongJSON.notANumber.modify(list).contains("\"version\":NaN"))
    #expect(WrongJSON.loneSurrogate.modify(list).contains(#""title":"\ud800 alone""#))
    #expect(WrongJSON.duplicateKey.modify(list).contains(#""title":"first","title":"second""#))
    #expect(WrongJSON.rawNUL.modify(list).contains(0))
    #expect(WrongJSON.escapedNUL.modify(list).contains(#"a\u0000b"#))
    #expect(WrongJSON.invalidUTF8.modify(list).contains(0xff))
    #expect(WrongJSON.deepNesting.modify(list).count > 200_000)
    #expect(WrongJSON.date2106.modify(list).contains("2106-02-07T06:28:16.000Z"))
  }

  @Test func `Content-Length fits the modified body`() async throws {
    feed.fault(next: .json(.cut))
    try await FaultServer.with(feed.respond) { server in
      let (head, body, _) = try await exchange(server.port, "/v1/items")
      #expect(head.contains("Content-Length: \(body.count)\r\n") || head.hasSuffix("Content-Length: \(body.count)"))
      #expect(throws: DecodingError.self) { try NewsJSON.decode(ItemList.self, from: body) }
    }
  }
}

extension Data {
  fileprivate func contains(_ text: String) -> Bool { firstRange(of: Data(text.utf8)) != nil }
}
