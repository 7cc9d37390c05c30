import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("Downloads that share a budget") struct TransferBudgetTests {
  private func begin(_ fixture: TransferFixture, _ sizes: [Int], budget: Int64) throws -> [Int64] {
    try sizes.map { size in
      let url = try #require(URL(string: "\(fixture.server.url)/\(size)"))
      return try fixture.download {
        $0.url = url
        $0.file = fixture.folder.appending(path: "\(size).bin")
        ($0.maximumBytes, $0.budget) = (budget, TransferBudget(name: "item", maximumBytes: budget))
      }
    }
  }

  @Test("are all complete if they fit, whatever their sizes", arguments: [FaultResponse.Framing.chunked, .length(nil)])
  func fitting(framing: FaultResponse.Framing) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, request, _ in
        FaultResponse(body: TransferFixture.content(Int(request.path.dropFirst()) ?? 0)).framed(framing)
      }
      let numbers = try begin(fixture, [900_000, 1000, 99_000], budget: 1_000_000)
      try await fixture.working { for number in numbers { try await fixture.finish(number) } }
    }
  }

  /// Makes the server send as many bytes as the path says, but only 650,000 of 700,000 before it is released.
  private func hangLargeDownload(_ fixture: TransferFixture) {
    fixture.modify { _, request, _ in
      let response = FaultResponse(body: TransferFixture.content(Int(request.path.dropFirst()) ?? 0)).framed(.chunked)
      return request.path == "/700000" ? response.hanging(at: .body(650_000)) : response
    }
  }

  @Test("are given up for the bytes of another one under way")
  func together() async throws {
    try await TransferFixture.with { fixture in
      hangLargeDownload(fixture)
      try await fixture.working {
        // The clock stands still, so that the first one records nothing but what the budget needs.
        let first = try begin(fixture, [700_000], budget: 1_000_000)[0]
        try await eventually("most of it is there") { try fixture.partialSize() == 650_000 }
        let second = try begin(fixture, [600_000], budget: 1_000_000)[0]
        try await eventually("the other one has ended") { try fixture.journal.transfer(second)?.state.isOver == true }
        #expect(try fixture.journal.transfer(second)?.state == .failed)
        fixture.server.release()
        try await fixture.finish(first)
      }
    }
  }

  @Test("are complete although one that was cancelled has used it up; none fits into less than the others have used")
  func cancelled() async throws {
    try await TransferFixture.with { fixture in
      hangLargeDownload(fixture)
      try await fixture.working {
        let first = try begin(fixture, [700_000], budget: 1_000_000)[0]
        try await eventually("most of it is there") { try fixture.partialSize() == 650_000 }
        try fixture.journal.cancel(first)
        let completed = try #require(try fixture.journal.transfer(first)).completed
        #expect(completed > 400_000)
        try await fixture.finish(begin(fixture, [600_000], budget: 1_000_000)[0])
        let last = try await fixture.end(of: begin(fixture, [10], budget: 500_000)[0])
        #expect(last.failure == "the content has more than 0 bytes, the rest of its budget")
      }
    }
  }

  @Test("are given up if only their last bytes exceed it", arguments: [FaultResponse.Framing.chunked, .length(nil)])
  func exceedingAtTheEnd(framing: FaultResponse.Framing) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, request, _ in
        FaultResponse(body: TransferFixture.content(Int(request.path.dropFirst()) ?? 0)).framed(framing)
      }
      try await fixture.working {
        for number in try begin(fixture, [990_000], budget: 1_000_000) { try await fixture.finish(number) }
        for number in try begin(fixture, [10_001], budget: 1_000_000) {
          #expect(try await fixture.end(of: number).state == .failed)
        }
      }
    }
  }

  @Test("are given up when it is used up", arguments: [FaultResponse.Framing.chunked, .length(nil)])
  func exceeding(framing: FaultResponse.Framing) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, request, _ in
        FaultResponse(body: TransferFixture.content(Int(request.path.dropFirst()) ?? 0)).framed(framing)
      }
      var states: [Transfer] = []
      try await fixture.working {
        for number in try begin(fixture, [700_000], budget: 1_000_000) { try await fixture.finish(number) }
        // One after the other: a download under way counts, so two at once may both be given up.
        for size in [400_000, 200_000, 150_000] {
          for number in try begin(fixture, [size], budget: 1_000_000) {
            states.append(try await fixture.end(of: number))
          }
        }
      }
      #expect(states.map(\.state) == [.failed, .finished, .failed])
      #expect(fixture.server.requests.count == 4)
      #expect(states.first?.failure?.hasSuffix("the rest of its budget") == true, "\(states.first?.failure ?? "")")
    }
  }
}
