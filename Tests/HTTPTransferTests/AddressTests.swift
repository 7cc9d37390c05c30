import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("A URL that cannot be requested") struct AddressTests {
  /// URLs that Foundation parses. Some of them end the process in AsyncHTTPClient or in its SOCKS handshake.
  static let texts = [
    "http://127.0.0.1:99999/", "http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://[::1]:70000/x",
    "http://localhost:18446744073709551616/", "http://a@127.0.0.1:99999/", "http://%5b%5d/", "http://%5B/",
    "http://[]/",
    "http://[]:80/", "http://a%0d%0ab/", "http://%00/", "http://%20/", "http://1.2.3.4%3a99999/", "http://[v1.x]/",
    "http://[fe80::1%25lo]/", "http://[fe80::1%25lo]:99999/", "http://%2f/", "http://:80/", "http:///x",
    "file:///etc/passwd",
    "unix:///run/x", "http+unix://%2Frun%2Fx/", "http://\(String(repeating: "a.", count: 200))example/",
    "http://\(String(repeating: "a.", count: 127))/", "http://a%7fb/", "http://a%25b/", "http://a%40b/",
    "http://a%5cb/", "http://[1.2.3.4]/", "http://[abc]/",
  ]

  @Test("reaches neither the network nor a proxy", arguments: texts)
  func transport(text: String) async throws {
    let url = try #require(URL(string: text))
    var options = ConnectionOptions()
    for address in [nil, "http://127.0.0.1:1", "socks5://127.0.0.1:1"] {
      if let address { options.proxies = try ProxySettings(address: address) }
      let transport = AsyncHTTPTransport(options: options)
      let failure = await #expect(throws: HTTPTransportError.self) { _ = try await transport.get(url, headers: []) }
      #expect(failure?.message.hasPrefix("the URL is not valid: ") == true, "\(failure?.message ?? "")")
      #expect(failure?.isUnsent == true)
    }
  }

  @Test("is refused when it is added, with a reason", arguments: texts)
  func added(text: String) async throws {
    try await TransferFixture.with { fixture in
      let url = try #require(URL(string: text))
      let failure = #expect(throws: FetchError.self) { try fixture.journal.add(TransferRequest(download: url)) }
      #expect(failure?.code == .rejected)
      #expect(failure?.message.hasPrefix("cannot transfer ") == true)
      #expect(try fixture.journal.transfers().isEmpty)
    }
  }

  @Test("ends a transfer that is redirected to it, and no other one", arguments: [302, 307])
  func redirected(status: Int) async throws {
    let content = TransferFixture.content(1000)
    try await TransferFixture.with(content) { fixture in
      fixture.modify { response, request, _ in
        guard let number = request.path.dropFirst().split(separator: "-").last.flatMap({ Int($0) }) else {
          return response
        }
        return .redirect(.text(Self.texts[number]), from: request, status: status)
      }
      try await fixture.working {
        for number in Self.texts.indices {
          let url = try #require(URL(string: fixture.server.url + "/to-\(number)"))
          let transfer = try await fixture.end(of: fixture.download { $0.url = url })
          #expect(transfer.state == .failed)
          #expect(transfer.failure?.contains("valid Location") == true, "\(transfer.failure ?? "")")
        }
        try await fixture.finish(fixture.download())
        #expect(try Data(contentsOf: fixture.output) == content)
      }
    }
  }

  @Test(
    "is no address of a proxy", arguments: ["a:99999", "a:0", "a:18446744073709551616", "socks5://%5b%5d", "http://[]"])
  func proxies(address: String) {
    #expect(throws: ProxySettings.InvalidAddress.self) { try ProxySettings(address: address) }
    #expect(ProxySettings(environment: ["all_proxy": address]) == ProxySettings())
  }

  @Test(
    "is none with an empty port, an address of IPv6, another script or any port",
    arguments: [
      "http://a/", "HTTP://a:/", "https://a:1?b", "https://a:65535", "https://[2001:db8::1]:8443/x",
      "http://[::1.2.3.4]/",
      "http://\(String(repeating: "a.", count: 126))b/",
      "http://b\u{FC}cher.example/", "http://under_score.example/", "http://u:1@a/", "http://a/:99999", "http://a?:0",
    ])
  func valid(text: String) async throws {
    try await TransferFixture.with { fixture in
      let url = try #require(URL(string: text))
      #expect(try fixture.journal.add(TransferRequest(download: url)).number == 1)
    }
  }
}
