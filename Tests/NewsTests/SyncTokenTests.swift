import News
import TestKit
import Testing

@Suite struct `Sync tokens` {
  @Test(arguments: [
    (SyncToken(epoch: "k3x9qa", scope: .feed, version: 0), "1k3x9qam9pkx.0"),
    (SyncToken(epoch: "k3x9qa", scope: .feed, version: 35), "1k3x9qam9pkx.z"),
    (SyncToken(epoch: "000000", scope: Scope(topics: ["sport"]), version: 36), "1000000f7rvr.10"),
    (
      SyncToken(epoch: "zzzzzz", scope: Scope(topics: ["sport", "politics"]), version: SyncToken.maximumVersion),
      "1zzzzzzrudn7.zzzzzzzzz"
    ),
    (SyncToken(epoch: "k3x9qa", scope: .feed, version: 7, position: 0), "2k3x9qam9pkx.7.0"),
    (SyncToken(epoch: "k3x9qa", scope: .feed, version: 36, isPartial: true), "3k3x9qam9pkx.10"),
    (
      SyncToken(
        epoch: "k3x9qa", scope: .feed, version: SyncToken.maximumVersion, position: SyncToken.maximumVersion),
      "2k3x9qam9pkx.zzzzzzzzz.zzzzzzzzz"
    ),
  ])
  func `A token is written in one form and read from it`(_ token: SyncToken, _ text: String) {
    #expect(token.description == text)
    #expect(SyncToken(text) == token)
    #expect(SyncToken("x\(text)".dropFirst()) == token)
    #expect(text.utf8.count <= 32)
  }

  @Test func `Epoch, scope, version and position are read apart`() throws {
    let token = try #require(SyncToken("2k3x9qaf7rvr.zz.10"))
    #expect(token.epoch == "k3x9qa")
    #expect(token.scope == Scope(topics: ["sport"]).fingerprint)
    #expect(token.version == 1295)
    #expect(token.position == 36)
    #expect(SyncToken("1k3x9qaf7rvr.zz")?.position == nil)
    #expect(
      ["1k3x9qaf7rvr.zz", "2k3x9qaf7rvr.zz.10", "3k3x9qaf7rvr.zz"].map { SyncToken($0)?.isPartial } == [
        false, true, true,
      ])
  }

  @Test(arguments: [
    "", "1", "1k3x9qam9pkx", "1k3x9qam9pkx.", "1k3x9qam9pkxz.1", "1k3x9qam9pk.10", "k3x9qam9pkx.zz", "0k3x9qam9pkx.zz",
    "4k3x9qam9pkx.zz", "3k3x9qam9pkx.zz.1", "ak3x9qam9pkx.zz", "1k3x9qam9pkx.zz.1", "2k3x9qam9pkx.zz",
    "2k3x9qam9pkx.zz.", "2k3x9qam9pkx..1",
    "2k3x9qam9pkx.1.1.1", "2k3x9qam9pkx.1.1.", "1k3x9qam9pkx..", "1k3x9qam9pkx..1", ".1k3x9qam9pkx.1",
    "1k3x9qam9pkx.00", "1k3x9qam9pkx.0z", "2k3x9qam9pkx.1.01", "1k3x9qam9pkx.1zzzzzzzzz", "2k3x9qam9pkx.1.1zzzzzzzzz",
    "2k3x9qam9pkx.zzzzzzzzz.zzzzzzzzzz", "1K3X9QAM9PKX.ZZ", "1k3x9qam9pkx.ZZ", "1k3x9qam9pkx.-1", "1k3x9qam9pkx.+1",
    "1k3x9qam9pkx.1 ", " 1k3x9qam9pkx.1", "\"1k3x9qam9pkx.1\"", "1k3x9qam9pkx,1", "1k3x9qam9pkx.é",
    "1k3x9qam9pkx.1\u{0}",
    "1k3x9qam9pkx.١", "1k3x-qam9pkx.1", "1k3x.qam9pkx.1", "0", "null", "-1", "99999999999999999999",
  ])
  func `One state has one spelling, anything else is refused`(_ text: String) {
    #expect(SyncToken(text) == nil)
  }

  @Test func `Every token fits where tokens go: short, and safe in URLs, tags and headers`() {
    var generator = SplitMix64(seed: 32)
    let alphabet = Set("abcdefghijklmnopqrstuvwxyz0123456789")
    for _ in 0..<rounds(20_000) {
      let epoch = String((0..<6).map { _ in alphabet.randomElement(using: &generator) ?? "a" })
      let scope = Bool.random(using: &generator) ? Scope.feed : Scope(topics: [epoch])
      let version = Int.random(
        in: 0...SyncToken.maximumVersion >> Int.random(in: 0...46, using: &generator), using: &generator)
      let position = Bool.random(using: &generator) ? version / 2 : nil
      let token = SyncToken(epoch: epoch, scope: scope, version: version, position: position)
      let text = token.description
      #expect(SyncToken(text) == token)
      #expect((14...32).contains(text.utf8.count))
      #expect(text.allSatisfy { alphabet.contains($0) || $0 == "." })
    }
  }

  @Test func `Any bytes are a token that prints as them or none`() {
    var generator = SplitMix64(seed: 410)
    let characters = Array("0123456789abcxyz.".utf8)
    var read = 0
    for _ in 0..<rounds(200_000) {
      var bytes = Array("1k3x9qam9pkx.".utf8)
      for _ in 0..<Int.random(in: 0...22, using: &generator) {
        bytes.append(characters.randomElement(using: &generator) ?? 0)
      }
      if Bool.random(using: &generator) { bytes[0] = UInt8(ascii: "2") }
      if Int.random(in: 0..<4, using: &generator) == 0 {
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: .min ... .max, using: &generator)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      guard let token = SyncToken(text) else { continue }
      read += 1
      #expect(token.description == text)
      #expect((0...SyncToken.maximumVersion).contains(token.version))
      #expect((0...SyncToken.maximumVersion).contains(token.position ?? 0))
    }
    #expect(read > rounds(10_000), "\(read)")
  }

  @Test func `Tokens of other epochs, scopes, versions and positions differ`() {
    let token = SyncToken(epoch: "k3x9qa", scope: .feed, version: 5)
    let others = [
      SyncToken(epoch: "k3x9qb", scope: .feed, version: 5), SyncToken(epoch: "k3x9qa", scope: .feed, version: 6),
      SyncToken(epoch: "k3x9qa", scope: Scope(topics: ["a"]), version: 5),
      SyncToken(epoch: "k3x9qa", scope: .feed, version: 5, position: 5),
    ]
    for other in others {
      #expect(other != token)
      #expect(other.description != token.description)
    }
    #expect(Set(others + [token, token]).count == 5)
  }
}
