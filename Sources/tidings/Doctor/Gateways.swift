import Foundation
import NetworkAddresses

#if canImport(Glibc)
  import Glibc
#endif

/// The gateways that this machine knows: those of its routes, and its own addresses on bridges, which are the gateways of
/// containers.
enum Gateways {
  static var known: [IPAddress] {
    RoutingTable.gateways(version4: text(of: "/proc/net/route"))
      + RoutingTable.gateways(version6: text(of: "/proc/net/ipv6_route")) + ofBridges
  }

  private static func text(of path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

  private static var ofBridges: [IPAddress] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var found: [IPAddress] = []
    var next = list
    while let entry = next?.pointee {
      defer { next = entry.ifa_next }
      guard let address = entry.ifa_addr else { continue }
      let name = String(cString: entry.ifa_name)
      guard FileManager.default.fileExists(atPath: "/sys/class/net/\(name)/bridge") else { continue }
      let isVersion4 = Int32(address.pointee.sa_family) == AF_INET
      let size = isVersion4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      guard getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
      else { continue }
      // An address with a zone, such as fe80::1%docker0, is that of the link.
      let host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if let parsed = IPAddress(host.prefix { $0 != "%" }) { found.append(parsed) }
    }
    return found
  }
}
