import TestKit
import Testing

@Suite("Slices of cases") struct SliceTests {
  @Test("The slices of all commits have each case once, in order, and are equally long")
  func division() {
    let slices = (0..<sliceCount).map { slice(of: 0..<100, commit: "0000000\($0)ffff") }
    #expect(slices.flatMap { $0 }.sorted() == Array(0..<100))
    #expect(slices.allSatisfy { $0 == $0.sorted() && $0.count == 100 / sliceCount })
  }

  @Test("A slice of few cases has one of them", arguments: 1...4)
  func few(count: Int) {
    for commit in ["4b89678d", "508c2246", "190ccac5", "ffffffff"] {
      #expect(slice(of: 0..<count, commit: commit).count == 1)
    }
  }

  @Test("All cases are tested without a commit", arguments: [nil, "", "HEAD"] as [String?])
  func whole(commit: String?) {
    #expect(slice(of: 0..<9, commit: commit) == Array(0..<9))
    #expect(slice(of: [Int](), commit: "190ccac5").isEmpty)
  }
}
