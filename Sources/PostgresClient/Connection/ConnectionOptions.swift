import CLibPQ

/// The options of a connection string, completed from the environment as libpq does (PostgreSQL 15, 34.1 and 34.15).
struct ConnectionOptions {
  private let values: [String: String]

  /// Parses a connection string.
  ///
  /// - Returns: nil if it is malformed. Its parts must not be shown then: libpq takes the end of an unescaped password
  ///   with `@` for a host, and of one with `/` for a port.
  init?(_ connectionString: String) {
    var values = Self.values(taking: PQconndefaults())
    // RFC 3986 allows no blanks. libpq takes them for parts of names.
    let isURI = ["postgresql://", "postgres://"].contains { connectionString.hasPrefix($0) }
    if isURI, connectionString.contains(where: \.isWhitespace) { return nil }
    // libpq takes a text that is neither a URI nor pairs for the name of a database, even a URL with a typing error such as
    // `postgres//host/news`.
    if isURI || connectionString.contains(where: { "=/:".contains($0) }) {
      var message: UnsafeMutablePointer<CChar>?
      defer { PQfreemem(message) }
      guard let options = PQconninfoParse(connectionString, &message) else { return nil }
      values.merge(Self.values(taking: options)) { $1 }
    }
    self.values = values
    let isPort = { (port: Substring) in port.utf8.allSatisfy { 48...57 ~= $0 } }
    guard hosts.allSatisfy({ !$0.dropFirst().contains("@") }), ports.allSatisfy(isPort) else { return nil }
  }

  /// The host and port of each server, or the path of its socket.
  var servers: [String] {
    let (hosts, ports) = (hosts, ports)
    return hosts.indices.map { index in
      let port = ports.count == 1 ? ports[0] : ports.indices.contains(index) ? ports[index] : ""
      return Self.server(host: String(hosts[index]), port: port.isEmpty ? "5432" : String(port))
    }
  }

  static func server(host: String, port: String) -> String {
    if host.isEmpty { return "the local socket, port \(port)" }
    if host.hasPrefix("/") || host.hasPrefix("@") { return "\(host)/.s.PGSQL.\(port)" }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  private var hosts: [Substring] { list(values["host"] ?? values["hostaddr"]) }
  private var ports: [Substring] { list(values["port"]) }

  private func list(_ value: String?) -> [Substring] {
    (value ?? "").split(separator: ",", omittingEmptySubsequences: false)
  }

  private static func values(taking options: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String] {
    defer { PQconninfoFree(options) }
    var values: [String: String] = [:]
    var option = options
    while let present = option, let keyword = present.pointee.keyword {
      if let value = present.pointee.val { values[String(cString: keyword)] = String(cString: value) }
      option = present + 1
    }
    return values
  }
}
