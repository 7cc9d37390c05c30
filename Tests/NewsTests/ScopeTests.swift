import News
import Testing

@Suite struct `Scopes` {
  /// Computed independently: 64-bit FNV-1a, its halves folded, modulo 36^5, in base 36.
  @Test(
    arguments: [
      ([], "m9pkx"), (["sport"], "f7rvr"), (["politics"], "h2y6x"), (["politics", "sport"], "rudn7"), (["a"], "5xr5s"),
      (["b"], "wfvu1"), (["a", "b"], "q5zi7"), (["ab"], "ejt65"), (["a-b"], "piye2"), (["t1"], "0ht01"),
    ] as [([String], String)])
  func `A fingerprint stays the same for ever`(_ topics: [String], _ fingerprint: String) {
    #expect(Scope(topics: topics).fingerprint == fingerprint)
  }

  @Test func `Order and repetition make no other scope`() {
    let scope = Scope(topics: ["sport", "art", "sport"])
    #expect(scope.topics == ["art", "sport"])
    #expect(scope == Scope(topics: ["art", "sport"]))
    #expect(scope.fingerprint == Scope(topics: Set(["sport", "art"])).fingerprint)
  }

  @Test func `No topics are the whole feed`() {
    #expect(Scope(topics: []) == .feed)
    #expect(Scope.feed.topics.isEmpty)
  }

  @Test func `Fingerprints are five digits, and of some thousand scopes hardly two share one`() {
    let fingerprints = (0..<2_000).map { Scope(topics: ["topic-\($0)", "sport"]).fingerprint }
    for fingerprint in fingerprints {
      #expect(fingerprint.utf8.count == 5)
      #expect(fingerprint.utf8.allSatisfy { 48...57 ~= $0 || 97...122 ~= $0 })
    }
    #expect(Set(fingerprints).count >= 1_999)
  }
}

@Suite struct `Topic slugs` {
  @Test(arguments: ["a", "0", "-", "sport", "a-b", "2026", "--", String(repeating: "z", count: 64)])
  func `Lower-case letters, digits and hyphens up to 64 are valid`(_ slug: String) {
    #expect(TopicSlug.isValid(slug))
    #expect(TopicSlug.isValid("x\(slug)".dropFirst()))
  }

  @Test(arguments: [
    "", "Sport", "a b", "a_b", "a.b", "a,b", "a/b", "é", "ａ", "a\u{301}", "a\n", "\u{0}", "a`", "a{", "a:",
    String(repeating: "z", count: 65),
  ])
  func `Anything else is not`(_ slug: String) {
    #expect(!TopicSlug.isValid(slug))
  }
}
