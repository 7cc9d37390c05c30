import HTTPConditions
import Testing

@Suite("The links of a field") struct LinkFieldTests {
  private static let forms: [([String], [String])] = [
    (["</items?topics=a,b&cursor=x>; rel=\"next\""], ["/items?topics=a,b&cursor=x next"]),
    (["</a>; rel=next, </b>; rel=\"Prev  first\""], ["/a next", "/b prev first"]),
    (["</a>; rel=next", "< /b >\t; rel = last"], ["/a next", "/b last"]),
    (["</,;a>;title=\"a, <b>; \\\"rel=hub\";REL=HUB"], ["/,;a hub"]),
    (["</a>; rel=self; rel=hub", "</b>; rel; rel=hub", "</c>; title=x ,</d>; rel=up"], ["/a self", "/d up"]),
    (["</a>; rel=next; anchor=\"/x\", </b>; rel=next"], ["/b next"]),
    (["", "rel=next", "</a; rel=next", "</a>; rel=\"next"], ["/a next"]),
  ]

  @Test("are separated by the commas outside of targets and quoted texts", arguments: forms)
  func links(lines: [String], expected: [String]) {
    #expect(LinkField.links(lines).map { ([$0.target] + $0.relations).joined(separator: " ") } == expected)
  }

  @Test("are those of the first 16 KiB; a longer line is left out as a whole")
  func longLines() {
    let lines = [("a", 16_300), ("b", 200), ("c", 1)].map { name, bytes in
      "</\(name)>; rel=hub; title=\"\(String(repeating: "x", count: bytes))\""
    }
    #expect(LinkField.links(lines).map(\.target) == ["/a", "/c"])
  }
}
