import NIOCore
import NetworkAddresses
import OutgoingHTTP
import Testing

@Suite struct AddressPolicyTests {
  private static func refusal(of address: String, url: String = "https://feeds.example/", _ policy: AddressPolicy)
    throws -> OutgoingError?
  {
    let (url, address) = (try OutgoingURL(url), try SocketAddress(ipAddress: address, port: 443))
    do throws(OutgoingError) {
      try policy.check(address, of: url)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "Addresses that are not public are refused",
    arguments: [
      "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1", "169.254.169.254",
      "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
      "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.251", "239.255.255.255", "240.0.0.1",
      "255.255.255.255", "::", "::1", "0.255.255.255", "10.255.255.255", "127.255.255.255", "169.254.0.0",
      "169.254.255.255", "192.0.0.255",
      "192.0.2.255", "192.88.99.255", "192.168.255.255", "198.51.100.255", "203.0.113.255", "64:ff9b::ffff:ffff",
      "64:ff9b:1:ffff::1", "100::ffff:0:0:0", "2001:1ff:ffff::1", "2001:db8:ffff::1", "2002:ffff::1", "3fff:fff::1",
      "::ffff:127.0.0.1", "::ffff:93.184.216.34", "::127.0.0.1", "64:ff9b::a00:1",
      "64:ff9b::5db8:d822", "64:ff9b:1::1", "100::1", "2001::1", "2001:2::1", "2001:db8::1", "2002:a00:1::1",
      "3fff::1", "4000::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
    ])
  func refused(address: String) throws {
    guard case .refused = try Self.refusal(of: address, AddressPolicy()) else {
      Issue.record("\(address) is allowed")
      return
    }
  }

  @Test(
    "Public addresses are allowed",
    arguments: [
      "1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "198.17.255.255",
      "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "2001:4860::8888", "1.0.0.0", "9.255.255.255",
      "11.0.0.0", "126.255.255.255",
      "128.0.0.0", "169.253.255.255", "169.255.0.0", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0",
      "192.167.255.255", "192.169.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0",
      "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2001:ffff::1", "2003::1", "3fff:1000::1",
    ])
  func allowed(address: String) throws {
    #expect(try Self.refusal(of: address, AddressPolicy()) == nil)
  }

  @Test("Only https is allowed, unless the operator allows http")
  func schemes() throws {
    var policy = AddressPolicy()
    #expect(try Self.refusal(of: "1.1.1.1", url: "http://feeds.example/", policy) != nil)
    policy.allowsPlainHTTP = true
    #expect(try Self.refusal(of: "1.1.1.1", url: "http://feeds.example/", policy) == nil)
    #expect(try Self.refusal(of: "10.0.0.1", url: "http://feeds.example/", policy) != nil)
  }

  @Test("An operator can allow networks, with http and all ports")
  func allowedNetworks() throws {
    var policy = AddressPolicy()
    policy.allowedNetworks = [try #require(IPNetwork("10.1.0.0/16")), try #require(IPNetwork("fd00::/8"))]
    #expect(try Self.refusal(of: "10.1.2.3", url: "http://feeds.example:81/", policy) == nil)
    #expect(try Self.refusal(of: "fd00::1", policy) == nil)
    #expect(try Self.refusal(of: "10.2.0.1", policy) != nil)
    #expect(try Self.refusal(of: "127.0.0.1", policy) != nil)
  }

  @Test(
    "localhost is allowed with either of its addresses, and other names are not known before they are resolved",
    arguments: [
      ("localhost", "127.0.0.1", true), ("localhost", "::1", true), ("feeds.localhost", "::1", true),
      ("localhost", "10.0.0.0/8", false), ("feeds.localhost", "10.0.0.0/8", false), ("localhost.example", "::1", true),
    ])
  func localNames(host: String, network: String, isAllowed: Bool) throws {
    var policy = AddressPolicy()
    policy.allowedNetworks = [try #require(IPNetwork(network))]
    let url = try OutgoingURL("http://\(host):8080/")
    if isAllowed {
      try policy.check(url)
    } else {
      let refused = OutgoingError.refused("\(host) has a loopback address, which is not allowed")
      #expect(throws: refused) { try policy.check(url) }
    }
  }

  @Test(
    "Ports of other protocols are refused",
    arguments: [
      (22, false), (25, false), (81, false), (6379, false), (6667, false), (443, true), (80, true), (8443, true),
      (1023, false), (1024, true), (2049, false), (10_080, false), (65_535, true),
    ])
  func ports(port: Int, isAllowed: Bool) throws {
    #expect(
      (try Self.refusal(of: "1.1.1.1", url: "https://feeds.example:\(port)/", AddressPolicy()) == nil) == isAllowed)
  }
}
