import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The proxies of requests") struct ProxySettingsTests {
  private func proxy(_ environment: [String: String], _ address: String) throws -> String? {
    ProxySettings(environment: environment).proxy(for: try #require(URL(string: address)))?.absoluteString
  }

  @Test("are those of the usual variables; requests of the web cannot set them")
  func variables() throws {
    #expect(try proxy([:], "https://news.example") == nil)
    let both = ["https_proxy": "http://a:1", "http_proxy": "b:2", "ALL_PROXY": "socks5://c:3"]
    #expect(try proxy(both, "https://news.example/x") == "http://a:1")
    #expect(try proxy(both, "http://news.example/x") == "http://b:2")
    #expect(try proxy(["ALL_PROXY": "socks5://c:3"], "http://news.example/x") == "socks5://c:3")
    #expect(try proxy(["HTTPS_PROXY": "http://a:1"], "https://news.example/x") == "http://a:1")
    #expect(try proxy(["HTTP_PROXY": "http://a:1"], "http://news.example/x") == nil)
    #expect(try proxy(["https_proxy": "ftp://a:1"], "https://news.example/x") == nil)
    #expect(try proxy(["https_proxy": "ftp://a:1", "all_proxy": "http://c:3"], "https://news.example/x") == nil)
    #expect(try proxy(["https_proxy": "http://a:1"], "http://news.example/x") == nil)
    #expect(try proxy(["http_proxy": "http://a:1"], "https://news.example/x") == nil)
    let empty = ["https_proxy": "", "HTTPS_PROXY": "http://a:1", "all_proxy": "", "ALL_PROXY": "http://c:3"]
    #expect(try proxy(empty, "HTTPS://news.example/x") == "http://a:1")
    #expect(try proxy(empty, "http://news.example/x") == "http://c:3")
    let cases = ["https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:2"]
    #expect(try proxy(cases, "https://news.example/x") == "http://a:1")
    #expect(try proxy(["all_proxy": "http://c:3", "ALL_PROXY": "http://d:4"], "http://a/") == "http://c:3")
  }

  @Test("are one proxy for all servers, at the usual port of its kind")
  func address() async throws {
    for (address, port) in [("http://127.0.0.94", 80), ("SOCKS5://127.0.0.94", 1080), ("socks5h://127.0.0.94", 1080)] {
      var options = ConnectionOptions()
      options.proxies = try ProxySettings(address: address)
      for server in ["http://127.0.0.1:1/", "https://127.0.0.1:1/"] {
        let url = try #require(URL(string: server))
        #expect(options.proxies.proxy(for: url)?.absoluteString == address)
        // Nothing listens at this address of the machine.
        let transport = AsyncHTTPTransport(options: options)
        let failure = await #expect(throws: HTTPTransportError.self) { _ = try await transport.get(url, headers: []) }
        let message = failure?.message ?? ""
        #expect(message.hasSuffix(" (through the proxy 127.0.0.94:\(port))"), "\(message)")
      }
    }
  }

  @Test(
    "that refuse a request have not sent it, and say why",
    arguments: [
      (403, "the proxy refused the connection"), (407, "the proxy demands a user name and a password"),
    ])
  func refusals(status: Int, reason: String) async throws {
    try await FaultServer.with({ _ in FaultResponse(status: status) }) { proxy in
      var options = ConnectionOptions()
      options.proxies = try ProxySettings(address: proxy.url)
      let transport = AsyncHTTPTransport(options: options)
      let url = try #require(URL(string: "http://news.example/"))
      let failure = await #expect(throws: HTTPTransportError.self) { _ = try await transport.get(url, headers: []) }
      #expect(failure?.kind == .refused && failure?.isUnsent == true)
      #expect(failure?.message.hasPrefix(reason + " (through the proxy ") == true, "\(failure?.message ?? "")")
    }
  }

  @Test("learn the user name without a password, and nothing of the kind without a user", arguments: ["me@", ""])
  func userName(user: String) async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 403) }) { proxy in
      var options = ConnectionOptions()
      options.proxies = try ProxySettings(address: "http://\(user)127.0.0.1:\(proxy.port)")
      let transport = AsyncHTTPTransport(options: options)
      let url = try #require(URL(string: "http://news.example/"))
      await #expect(throws: HTTPTransportError.self) { _ = try await transport.get(url, headers: []) }
      let credentials = user.isEmpty ? nil : "Basic " + Data("me:".utf8).base64EncodedString()
      #expect(proxy.requests.map { $0["Proxy-Authorization"] } == [credentials])
    }
  }

  @Test("of SOCKS are addressed in their protocol")
  func socks() async throws {
    let listener = try Loopback.bind(to: 0)
    listen(listener, 1)
    var options = ConnectionOptions()
    options.proxies = try ProxySettings(address: "socks5://127.0.0.1:\(try Loopback.localPort(of: listener))")
    let version = Mutex<UInt8?>(nil)
    Thread.detachNewThread {
      let connection = accept(listener, nil, nil)
      var byte: UInt8 = 0
      if recv(connection, &byte, 1, 0) == 1 { version.withLock { $0 = byte } }
      close(connection)
      close(listener)
    }
    let transport = AsyncHTTPTransport(options: options)
    let url = try #require(URL(string: "http://news.example/"))
    await #expect(throws: HTTPTransportError.self) { _ = try await transport.get(url, headers: []) }
    #expect(version.withLock(\.self) == 5)
  }

  @Test(
    "have exceptions by name, subdomain, address and port",
    arguments: [
      ("news.example", true), ("NEWS.example.", false), (".example", true), ("example", true), ("ws.example", false),
      ("*", true), ("", false), ("other.example, news.example", true), ("news.example:443", true),
      ("news.example:8443", false), ("NEWS.Example", true),
    ])
  func exceptions(list: String, isException: Bool) throws {
    let environment = ["https_proxy": "http://a:1", "no_proxy": list]
    #expect(try (proxy(environment, "https://news.example/x") == nil) == isException)
    #expect(try (proxy(environment, "https://NEWS.example/x") == nil) == isException)
  }

  @Test(
    "have exceptions by the port of the scheme",
    arguments: [
      ("news.example:80", "http://news.example/", true), ("news.example:443", "http://news.example/", false),
      ("news.example:443", "https://news.example/", true), ("news.example:80", "https://news.example/", false),
      ("news.example:80", "https://news.example:80/", true), ("[::1]:80", "http://[::1]/", true),
      ("[::1]:443", "http://[::1]/", false),
    ])
  func ports(list: String, address: String, isException: Bool) throws {
    #expect(try (proxy(["all_proxy": "http://a:1", "no_proxy": list], address) == nil) == isException)
  }

  @Test(
    "have exceptions by network, for addresses",
    arguments: [
      ("10.0.0.0/8", "https://10.1.2.3/x", true), ("10.0.0.0/8", "https://11.1.2.3/x", false),
      ("192.168.0.0/16, 10.1.2.0/24", "https://10.1.2.3:8443/", true), ("10.0.0.0/8", "https://news.example/", false),
      ("2001:db8::/32", "https://[2001:db8::1]/", true), ("2001:db8::/32", "https://[2001:db9::1]/", false),
      ("10.0.0.0/99", "https://10.1.2.3/", false), ("/", "https://10.1.2.3/", false),
    ])
  func networks(list: String, address: String, isException: Bool) throws {
    #expect(try (proxy(["https_proxy": "http://a:1", "NO_PROXY": list], address) == nil) == isException)
  }

  @Test("know addresses of IPv6")
  func addresses() throws {
    for (list, isException) in [
      ("::1", true), ("[::1]", true), ("[::1]:8443", true), ("[::1]:1", false), ("::2", false),
      ("[::2]", false),
    ] {
      let environment = ["https_proxy": "http://[::9]:1", "no_proxy": list]
      #expect(try (proxy(environment, "https://[::1]:8443/x") == nil) == isException, "\(list)")
    }
  }

  @Test(
    "need an address that can be used",
    arguments: ["", "http://", "ftp://a", "http://a:0", "https://a", "http://a:99999"])
  func invalid(address: String) {
    #expect(throws: ProxySettings.InvalidAddress.self) { try ProxySettings(address: address) }
  }

  @Test(
    "are refused without their password in the reason",
    arguments: ["ftp://me:secret@a", "http://me:secret@a:0", "http://me:secret@", "http://me:secret@[x]:secret"])
  func reasons(address: String) {
    let failure = #expect(throws: ProxySettings.InvalidAddress.self) { try ProxySettings(address: address) }
    #expect(failure?.description.isEmpty == false)
    #expect(failure?.description.contains("secret") == false)
  }

  @Test("need certificates in PEM") func certificates() throws {
    var options = ConnectionOptions()
    for path in ["/nowhere", "/dev/null"] {
      #expect(throws: ConnectionOptions.InvalidCertificates.self) {
        try options.trust(certificatesIn: URL(filePath: path))
      }
    }
  }
}
