import HTTPEdge
import NIOCore
import NetworkAddresses
import TestKit
import Testing

@Suite struct TrustedProxiesTests {
  private static let networks = ["10.0.0.0/8", "192.0.2.7", "2001:db8:1::/48"]

  private func client(
    of peer: String, _ lines: [String], _ field: TrustedProxies.Field = .xForwardedFor, trusting: [String] = networks
  ) throws -> String {
    let proxies = TrustedProxies(try trusting.map { try #require(IPNetwork($0)) }, field: field)
    return "\(proxies.client(of: try #require(IPAddress(peer)), lines))"
  }

  @Test("The gateways of Linux's routing tables are read, and nothing else in them")
  func routes() {
    let version4 = """
      Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
      eth0\t00000000\t010012AC\t0003\t0\t0\t0\t00000000\t0\t0\t0
      eth0\t000012AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
      broken
      """
    #expect(RoutingTable.gateways(version4: version4).map { "\($0)" } == ["172.18.0.1"])
    let zero = String(repeating: "0", count: 32)
    let version6 = """
      \(zero) 00 \(zero) 00 20010db8000000000000000000000001 00000400 00000001 00000000 00000003 eth0
      20010db8000000000000000000000000 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001 eth0
      """
    #expect(RoutingTable.gateways(version6: version6).map { "\($0)" } == ["2001:db8::1"])
    #expect(RoutingTable.gateways(version4: "").isEmpty && RoutingTable.gateways(version6: "x y").isEmpty)
  }

  @Test(
    "A trusted network with a gateway is found; a gateway that is named alone is trusted on purpose",
    arguments: [
      ("172.18.0.0/16", "172.18.0.0/16"), ("127.0.0.1,172.16.0.0/12", "172.16.0.0/12"), ("0.0.0.0/0", "0.0.0.0/0"),
      ("2001:db8::/48", "2001:db8::/48"), ("172.18.0.1", nil), ("172.18.0.1/32", nil), ("2001:db8::1", nil),
      ("172.18.1.0/24,127.0.0.0/8", nil), ("172.18.0.2", nil),
    ])
  func gateways(setting: String, expected: String?) throws {
    let networks = try setting.split(separator: ",").map { try #require(IPNetwork($0)) }
    let gateways = try ["172.18.0.1", "2001:db8::1"].map { try #require(IPAddress($0)) }
    let found = TrustedProxies(networks).network(containing: gateways)
    #expect(found.map { "\($0.network)" } == expected)
  }

  @Test(
    "The neighbours of an address are its network of 24 bits, or of 64",
    arguments: [
      ("203.0.113.77", "203.0.113.0/24"), ("::ffff:203.0.113.77", "203.0.113.0/24"),
      ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("::1", "::/64"),
    ])
  func neighbourhood(address: String, expected: String) throws {
    #expect(try #require(IPAddress(address)).neighbourhood == expected)
  }

  @Test("Only a trusted proxy can name the client of a request")
  func untrusted() throws {
    #expect(try client(of: "203.0.113.9", ["198.51.100.1"]) == "203.0.113.9")
    #expect(try client(of: "10.1.2.3", ["198.51.100.1"], trusting: []) == "10.1.2.3")
    #expect(try client(of: "192.0.2.8", ["for=198.51.100.1"], .forwarded) == "192.0.2.8")
  }

  @Test(
    "The client is the rightmost address that is not a proxy's",
    arguments: [
      (["198.51.100.1"], "198.51.100.1"), (["8.8.8.8, 198.51.100.1"], "198.51.100.1"),
      (["8.8.8.8", "198.51.100.1"], "198.51.100.1"), (["198.51.100.1,10.9.9.9 ,\t192.0.2.7"], "198.51.100.1"),
      (["198.51.100.1", "10.9.9.9"], "198.51.100.1"), (["10.0.0.1, 10.0.0.2"], "10.0.0.1"),
      (["198.51.100.1:4711"], "198.51.100.1"), (["[2001:db8:2::1]:443"], "2001:db8:2::1"),
      (["[2001:db8:2::1]"], "2001:db8:2::1"), (["2001:DB8:2::1"], "2001:db8:2::1"),
      (["::ffff:198.51.100.1"], "198.51.100.1"), (["8.8.8.8, 2001:db8:2::1, 2001:db8:1::5"], "2001:db8:2::1"),
    ])
  func walk(lines: [String], expected: String) throws {
    #expect(try client(of: "10.0.0.3", lines) == expected)
    #expect(try client(of: "::ffff:10.0.0.3", lines) == expected)
  }

  @Test(
    "A malformed address ends the search at the proxy that sent it",
    arguments: [
      ([], "10.0.0.3"), ([""], "10.0.0.3"), (["198.51.100.1, "], "10.0.0.3"), (["unknown"], "10.0.0.3"),
      (["198.51.100.1, _hidden, 10.0.0.4"], "10.0.0.4"), (["198.51.100.256"], "10.0.0.3"),
      (["1.2.3.4.5"], "10.0.0.3"), (["198.51.100.1:123456"], "10.0.0.3"), (["198.51.100.1:"], "10.0.0.3"),
      (["[2001:db8::1"], "10.0.0.3"), (["[2001:db8::1]x"], "10.0.0.3"), (["fe80::1%eth0"], "10.0.0.3"),
      (["198.51.100.1 10.0.0.9"], "10.0.0.3"), (["\u{0}198.51.100.1"], "10.0.0.3"),
    ])
  func malformed(lines: [String], expected: String) throws {
    #expect(try client(of: "10.0.0.3", lines) == expected)
  }

  @Test(
    "Forwarded is parsed as specified in RFC 7239",
    arguments: [
      (["for=198.51.100.1"], "198.51.100.1"), (["For=\"198.51.100.1:80\";proto=https;by=10.0.0.3"], "198.51.100.1"),
      (["proto=https; for=\"[2001:db8:2::1]:4711\""], "2001:db8:2::1"),
      (["for=8.8.8.8, for=198.51.100.1;host=a, for=10.0.0.8"], "198.51.100.1"),
      (["for=unknown"], "10.0.0.3"), (["for=_a, for=10.0.0.8"], "10.0.0.8"), (["proto=https"], "10.0.0.3"),
      (["for=\"198.51.100.1"], "10.0.0.3"), (["for="], "10.0.0.3"), (["for=\"\""], "10.0.0.3"),
      // A quote from the client does not swallow the element that the proxy appends.
      (["for=\"8.8.8.8, for=198.51.100.1"], "198.51.100.1"), (["for=8.8.8.8;by=\"a, for=198.51.100.1"], "198.51.100.1"),
      // The syntax of `X-Forwarded-For` is not accepted in `Forwarded`.
      (["198.51.100.1"], "10.0.0.3"),
    ])
  func forwarded(lines: [String], expected: String) throws {
    #expect(try client(of: "10.0.0.3", lines, .forwarded) == expected)
  }

  @Test("The address that the proxy adds applies, whatever the client writes")
  func spoofing() throws {
    var random = SplitMix64(seed: 11)
    let pieces = [
      "10.0.0.1", ",", " ", "\"", "for=", ";", "[", "]", ":", "::1", "192.0.2.7", "x", "=", "\\", "\t", "%",
    ]
    for _ in 0..<2000 {
      let junk = (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
        .joined()
      #expect(try client(of: "10.0.0.3", [junk + ", 198.51.100.1"]) == "198.51.100.1")
      #expect(try client(of: "10.0.0.3", [junk + ", for=198.51.100.1"], .forwarded) == "198.51.100.1")
      #expect(try client(of: "10.0.0.3", [junk, "198.51.100.1"]) == "198.51.100.1")
    }
  }

  @Test(
    "A network is an address with a prefix length, without bits after the prefix",
    arguments: [
      "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/8", "2001:db8::1/64", "::/129",
      "", "/8", "news.example", "10.0.0.0/8/8", "[::1]",
    ])
  func noNetwork(text: String) {
    #expect(IPNetwork(text) == nil)
  }

  @Test("A network contains all addresses with its prefix, in both versions")
  func networks() throws {
    func contains(_ network: String, _ address: String) throws -> Bool {
      try #require(IPNetwork(network)).contains(try #require(IPAddress(address)))
    }
    #expect(try contains("0.0.0.0/0", "255.255.255.255"))
    #expect(try !contains("0.0.0.0/0", "2001:db8::1"))
    #expect(try contains("::/0", "2001:db8::1"))
    #expect(try contains("198.51.100.128/25", "198.51.100.200"))
    #expect(try !contains("198.51.100.128/25", "198.51.100.100"))
    #expect(try contains("2001:db8:0:8000::/49", "2001:db8:0:ffff::1"))
    #expect(try !contains("2001:db8:0:8000::/49", "2001:db8:0:7fff::1"))
    #expect(try contains("2001:db8::8000:0:0:0/65", "2001:db8::ffff:0:0:1"))
    #expect(try !contains("2001:db8::8000:0:0:0/65", "2001:db8::7fff:0:0:1"))
    #expect(try contains("::1", "::1"))
    #expect(try !contains("::1", "::2"))
  }
}
