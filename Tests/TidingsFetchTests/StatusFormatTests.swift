import FaultServer
import Foundation
import News
import NewsClient
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch status --format") struct StatusFormatTests {
  @Test("prints one line with the stored state, and asks no server")
  func line() async throws {
    let feed = FaultFeed()
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.run("status", "--format", "%b/%n [%t] %c %m%e").output == "0/0 [] never -\n")
        feed.publish("text", title: "Old")
        feed.publish("text", title: "New\u{1B}[31m\nline")
        #expect(try await command.fetch().status == 0)
        let requests = server.requests.count
        let line = try await command.run("status", "--format", "100%% %b/%n [%t] %c %m%e").output
        #expect(line.wholeMatch(of: /100% 2\/2 \[New\[31m line\] \d\d:\d\d \d+\n/) != nil)
        feed.fault(next: .truncate(at: .body(3)))
        feed.publish("text", title: "Next")
        #expect(try await command.fetch().status == 20)
        #expect(try await command.run("status", "--format", "%b%e").output == "2!\n")
        #expect(server.requests.count == requests + 1)
      }
    }
  }

  @Test("refuses unknown placeholders", arguments: ["%x", "%", "%b %"])
  func unknown(format: String) async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let result = try await command.run("status", "--format", format)
      #expect(result.status == 64)
    }
  }
}
