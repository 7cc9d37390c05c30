import FaultServer
import Foundation
import HTTPTransfer
import Testing

@Suite("The transport of AsyncHTTPClient") struct TransportTests {
  @Test("sends and receives each line of a field, without the blanks around its value")
  func fields() async throws {
    let fields = [HTTPHeader("X-Harbour", "north"), HTTPHeader("X-Harbour", "south")]
    try await FaultServer.with({ _ in
      FaultResponse(headers: [("X-Ferry", " night \t"), ("x-ferry", "day"), ("ETag", "\"one\"  ")])
    }) { server in
      let url = try #require(URL(string: server.url))
      let response = try await AsyncHTTPTransport().get(url, headers: fields)
      #expect(response["X-FERRY"] == "night")
      #expect(response[all: "X-Ferry"] == ["night", "day"])
      #expect(response["ETag"] == "\"one\"")
      let sent = try #require(server.requests.first).headers.filter { $0.name.lowercased() == "x-harbour" }
      #expect(sent.map(\.value) == ["north", "south"])
    }
  }

  @Test("refuses a response that unpacks to more than the limit of the app, whose amount it names")
  func limit() async throws {
    try await FaultServer.with({ _ in .gzipBomb(expandingTo: 64 << 20) }) { server in
      let url = try #require(URL(string: server.url))
      let response = try await AsyncHTTPTransport(maximumBody: 1 << 20).get(url, headers: [])
      let failure = await #expect(throws: HTTPTransportError.self) { for try await _ in response.body {} }
      #expect(failure?.message == "more than 1 MiB unpacked")
    }
  }
}
