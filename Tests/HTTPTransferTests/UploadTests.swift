import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("An upload") struct UploadTests {
  private func upload(_ depot: Depot, _ content: Data) throws -> Int64 {
    let file = depot.folder.appending(path: "input.bin")
    try content.write(to: file)
    var request = TransferRequest(upload: file, to: depot.url)
    request.mediaType = "image/png"
    request.headers = ["Authorization": "Bearer key"]
    let number = try depot.journal.add(request).number
    try depot.journal.resume(number, at: depot.clock.now)
    return number
  }

  @Test("arrives whole, and brings back what the server says")
  func whole() async throws {
    let content = Depot.content(300_000)
    try await Depot.with { depot in
      try await depot.working {
        let transfer = try await depot.end(of: upload(depot, content))
        #expect(transfer.state == .finished)
        #expect((transfer.completed, transfer.total) == (300_000, 300_000))
        #expect(transfer.answer?.location == "/v1/media/1")
        #expect(transfer.answer?.body == Data("{}".utf8))
        #expect(depot.arrived == [content])
        let request = try #require(depot.server.requests.first)
        #expect(request["Content-Type"] == "image/png")
        #expect(request["Authorization"] == "Bearer key")
        #expect(request["Content-Length"] == "300000")
      }
    }
  }

  @Test("is sent again until the server has it, and has failed where the server does not want it")
  func refusals() async throws {
    let content = Depot.content(100_000)
    try await Depot.with { depot in
      depot.spoil { answer, _, number in
        switch number {
        case 0, 1: answer.resetting(at: .start)
        case 2: .busy(503, retryAfter: nil)
        case 3: .busy(429, retryAfter: .seconds(60))
        case 4: answer
        default: FaultAnswer(status: 403)
        }
      }
      try await depot.working {
        #expect(try await depot.end(of: upload(depot, content)).state == .finished)
        #expect(depot.server.requests.count == 5)
        let refused = try await depot.end(of: upload(depot, content))
        #expect(refused.state == .failed)
        #expect(refused.failure == "the server answered 403")
        try FileManager.default.removeItem(at: depot.folder.appending(path: "input.bin"))
        let missing = try depot.journal.add(
          TransferRequest(upload: depot.folder.appending(path: "input.bin"), to: depot.url)
        ).number
        try depot.journal.resume(missing, at: depot.clock.now)
        #expect(try await depot.end(of: missing).state == .failed)
      }
    }
  }

  @Test("follows no redirection: neither the file nor its headers reach another server", arguments: [302, 307, 308])
  func redirected(status: Int) async throws {
    try await FaultServer.with({ _ in FaultAnswer(status: 201) }) { other in
      try await Depot.with { depot in
        depot.spoil { _, request, _ in .redirect(.other(other, "/file"), from: request, status: status) }
        try await depot.working {
          let transfer = try await depot.end(of: upload(depot, Depot.content(1000)))
          #expect(transfer.state == .failed)
          #expect(transfer.failure == "the server answered \(status)")
          #expect(depot.server.requests.map { $0["Authorization"] } == ["Bearer key"])
          #expect(other.requests.isEmpty)
        }
      }
    }
  }

  @Test("ends with the beginning of an answer that has no end")
  func endlessAnswer() async throws {
    try await Depot.with { depot in
      depot.spoil { answer, _, _ in
        answer.body { _ in Data(count: 200_000) }.declaring(length: 1 << 40).hanging(at: .body(200_000))
      }
      try await depot.working {
        let transfer = try await depot.end(of: upload(depot, Depot.content(1000)))
        #expect(transfer.state == .finished)
        #expect(transfer.answer?.body.count == 64 << 10)
      }
    }
  }
}
